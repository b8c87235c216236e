// What was learned of single transitions: log densities and ratios with gradients, and draws.

#include <nanobind/stl/pair.h>

#include "binding.h"
#include "catena/compose/density/transition_density.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/model/density/density_model.h"

namespace catena::python {
namespace {

/// (values, gradients in θ or an array without rows).
std::pair<Array, Array> transition_values(const std::string& function, const model::TrainedModel& model,
                                          const Rows& theta, const Rows& x, const Rows& x_next, const Numbers& time,
                                          const Numbers& step, const Rows& u, bool gradient, int threads) {
  compose::TransitionValues found;
  run(false, [&](Progress&) {
    found = compose::transition_values(function, model, view(theta),
                                       {view(x), view(x_next), span(time), span(step), view(u)}, gradient,
                                       Parallel(threads));
  });
  return {to_numpy(std::move(found.value)), to_numpy(std::move(found.gradient))};
}

Array draw_transitions(const model::TrainedModel& trained, const Rows& theta, const Rows& x, const Numbers& time,
                       const Rows& u, std::uint64_t seed) {
  Matrix next;
  run(false, [&](Progress&) {
    const model::DensityModel model(trained);
    Matrix z(theta.shape(0), theta.shape(1));
    for (std::size_t r = 0; r < z.rows(); ++r) trained.prior.to_z(view(theta).row(r), z.row(r));
    next = model::draw_transitions(model, z, view(x), span(time), Streams(seed), view(u));
  });
  return to_numpy(std::move(next));
}

}  // namespace

void bind_compose(nb::module_& m) {
  m.def("transition_values", &transition_values, "function"_a, "model"_a, "theta"_a, "x"_a, "x_next"_a, "time"_a,
        "step"_a, "u"_a, "gradient"_a, "threads"_a);
  m.def("draw_transitions", &draw_transitions, "model"_a, "theta"_a, "x"_a, "time"_a, "u"_a, "seed"_a);
}

}  // namespace catena::python
