#include "catena/tasks/ar/ar.h"
#include "catena/tasks/double_well/double_well.h"
#include "catena/tasks/driven_ar/driven_ar.h"
#include "catena/tasks/gaussian_rw/gaussian_rw.h"
#include "catena/tasks/kolmogorov_flow/kolmogorov_flow.h"
#include "catena/tasks/linear_sde/linear_sde.h"
#include "catena/tasks/lotka_volterra/lotka_volterra.h"
#include "catena/tasks/mixture_rw/mixture_rw.h"
#include "catena/tasks/periodic_sde/periodic_sde.h"
#include "catena/tasks/seasonal_ar/seasonal_ar.h"
#include "catena/tasks/sir/sir.h"
#include "catena/tasks/stationary_ar1/stationary_ar1.h"
#include "catena/tasks/task.h"
#include "catena/tasks/ti_gaussian_rw/ti_gaussian_rw.h"

namespace catena::tasks {

const Registry<TaskEntry>& registry() {
  static const Registry<TaskEntry> tasks("task", {
                                                     gaussian_rw::entry(),
                                                     ti_gaussian_rw::entry(),
                                                     mixture_rw::entry(),
                                                     periodic_sde::entry(),
                                                     linear_sde::entry(),
                                                     double_well::entry(),
                                                     lotka_volterra::entry(),
                                                     sir::entry(),
                                                     kolmogorov_flow::entry(),
                                                     ar::entry(),
                                                     stationary_ar1::entry(),
                                                     seasonal_ar::entry(),
                                                     driven_ar::entry(),
                                                 });
  return tasks;
}

Task make_task(std::string_view name, const nlohmann::json& options) {
  return registry().at("task", name).make(options);
}

}  // namespace catena::tasks
