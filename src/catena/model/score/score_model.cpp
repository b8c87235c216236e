#include "catena/model/score/score_model.h"

#include <fmt/format.h>

#include "catena/core/check.h"

namespace catena::model {

std::string score_name(int member) { return fmt::format("score.{}", member); }

ScoreNetworkSettings chosen_network(const ScoreModelSettings& settings) {
  ScoreNetworkSettings network = settings.sizes;
  network.network = settings.network;
  return network;
}

std::unique_ptr<LocalGaussianNetwork> local_gaussian(const TrainedModel& model, const ScoreModelSettings& settings) {
  return std::make_unique<LocalGaussianNetwork>(settings.gaussian_width, model.network("gaussian").weights,
                                                model.source, model.prior.size(), model.features.size());
}

ScoreNetworkSettings centre_network() { return {.network = "separable", .width = 32, .layers = 4, .terms = 16}; }

ScoreModel::ScoreModel(const TrainedModel& trained)
    : model(&trained.of_method("fnse")),
      settings(from_json_part<ScoreModelSettings>(trained.source, trained.settings)),
      schedule(diffusion::schedules().at(trained.source, settings.schedule).schedule) {
  check::that(settings.network != "auto" && settings.ensemble > 0, trained.source, "network", settings.network,
              "chosen: the model is not complete");
}

}  // namespace catena::model
