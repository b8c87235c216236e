#include "catena/model/density/blurred_model.h"

#include "catena/model/density/blur.h"

namespace catena::model {

BlurredModel::BlurredModel(const TrainedModel& trained)
    : model(&trained.of_method("fnbe")),
      settings(from_json_part<BlurredModelSettings>(trained.source, trained.settings)),
      schedule(diffusion::schedules().at(trained.source, settings.schedule).schedule),
      map(trained.features, trained.state_names, settings.inputs,
          densities().at(trained.source, settings.density.density).noise_at_atoms),
      shape(map.shape(trained.prior.size() + blur_features)) {}

}  // namespace catena::model
