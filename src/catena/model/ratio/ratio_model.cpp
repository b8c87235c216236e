#include "catena/model/ratio/ratio_model.h"

#include <fmt/format.h>

#include "catena/core/errors.h"

namespace catena::model {
namespace {

RatioModelSettings ratio_settings(const TrainedModel& trained) {
  const auto settings = from_json_part<RatioModelSettings>(trained.source, trained.settings);
  if (settings.network.network == "auto" || settings.network.squares < 0) {  // training puts what it chose there
    throw FileError(fmt::format("{}: the kind of network or its number of squares is not given; train the model again",
                                trained.source));
  }
  return settings;
}

}  // namespace

std::string ratio_name(int member) { return fmt::format("ratio.{}", member); }

RatioModel::RatioModel(const TrainedModel& trained)
    : model(&trained.of_method("fnre")),
      settings(ratio_settings(trained)),
      map(trained.features, trained.seen_names(), settings.logarithms),
      shape(map.shape(trained.prior.size())) {}

}  // namespace catena::model
