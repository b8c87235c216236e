#include "catena/model/density/density_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "catena/core/check.h"

namespace catena::model {

DensityModel::DensityModel(const TrainedModel& trained)
    : model(&trained.of_method("fnle")),
      settings(from_json_part<DensityModelSettings>(trained.source, trained.settings)),
      map(trained.features, trained.state_names, settings.inputs,
          densities().at(trained.source, settings.density.density).noise_at_atoms),
      shape(map.shape(trained.prior.size())) {}

Matrix draw_transitions(const DensityModel& model, ConstMatrixView z, ConstMatrixView x, std::span<const double> times,
                        const Streams& streams, ConstMatrixView u) {
  check::equal("draw_transitions", "the number of parameters", z.cols, model.shape.parameters);
  check::equal("draw_transitions", "the number of states", x.cols, model.model->features.condition());
  check::equal("draw_transitions", "the number of rows of x", x.rows, z.rows);
  const Features& features = model.model->features;
  check::that(features.shape().plain(), "draw_transitions", "the model", "one of longer records",
              "of single transitions");
  if (features.uses_time()) check::equal("draw_transitions", "the number of times", times.size(), z.rows);
  const bool takes = features.shape().covariates > 0;
  check::equal("draw_transitions", "the number of covariates", u.cols, features.shape().covariates);
  if (takes) check::equal("draw_transitions", "the number of rows of u", u.rows, z.rows);
  for (std::size_t r = 0; r < x.rows; ++r) {
    features.check_positive("draw_transitions", model.model->state_names, x.row(r));
  }
  const std::size_t rows = z.rows, atoms = model.shape.atoms;
  Matrix state(rows, model.shape.state_inputs), atom(rows, atoms), keep(rows, x.cols), v(rows, x.cols);
  std::vector<std::vector<float>> c(rows, std::vector<float>(features.size()));
  std::vector<float> inputs(model.shape.state_inputs);
  for (std::size_t r = 0; r < rows; ++r) {
    features.apply(
        {x.row(r), x.row(r), features.uses_time() ? times[r] : 0, 1, takes ? u.row(r) : std::span<const double>()},
        c[r]);
    model.map.state(c[r].data(), inputs);
    std::ranges::copy(inputs, state.row(r).begin());
    std::ranges::fill(keep.row(r), 1.0);
  }
  if (atoms > 0) {
    Matrix probability(rows, atoms);
    atom_probabilities(model.shape, model.weights(), model.model->source, z, state, probability);
    Stream stream = streams.stream("atoms");
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < atoms; ++k) {
        if (stream.uniform() >= probability(r, k)) continue;
        const Atom& at = model.map.atoms()[k];
        atom(r, k) = 1;
        keep(r, at.state) = 0;
        v(r, at.state) = model.map.atom_increment(c[r].data(), at);
      }
    }
  }
  densities()
      .at("draw_transitions", model.settings.density.density)
      .draw(model.settings.density, model.shape, model.weights(), model.model->source, {z, state, atom, keep},
            streams.stream("increments"), v);
  Matrix next(rows, x.cols);
  for (std::size_t r = 0; r < rows; ++r) {
    model.map.next_state(x.row(r), c[r].data(), v.row(r), keep.row(r), next.row(r));
  }
  return next;
}

}  // namespace catena::model
