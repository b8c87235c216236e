#include "catena/train/fnle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "catena/core/check.h"
#include "catena/train/decay_search.h"

namespace catena::train {
namespace {

/// One network takes 1.5 to 2 ms a step on one core, and `auto` trains five of them.
int default_steps(std::size_t transitions) {
  return static_cast<int>(std::clamp<double>(0.2 * static_cast<double>(transitions), 8000, 40000));
}

/// A density is kept unless another one is better by this much on held-out transitions (nats per transition): the noise
/// of a difference over 1,000 of them.
constexpr double worth_a_change = 0.003;

TrainedModel train_fnle(const MethodContext& context) {
  auto settings = from_json<FnleSettings>("train", context.settings);
  settings.inputs = resolve(settings.inputs, context.data);
  TrainedModel model = empty_model("fnle", context, to_json(settings));
  LoopSettings loop = context.loop;
  if (loop.steps == 0) loop.steps = default_steps(context.data.training_size());
  const auto objective = [&](const std::string& kind) {
    DensitySettings density = settings.density;
    density.density = kind;
    DensityMap map(context.data.features(), context.data.state_names(), settings.inputs,
                   densities().at("train", kind).noise_at_atoms);
    return std::make_unique<DensityObjective>(density, std::move(map), context.data.prior().size());
  };
  DecaySearch search(model, context, loop, objective, worth_a_change);
  if (settings.density.density == "auto") {
    search.run("gaussian", settings.decay, {"mixture"});
  } else {
    search.run(settings.density.density, settings.decay);
  }
  const std::string density = search.best().kind;
  model.networks[density] = search.take_best();
  model.main_network = density;
  model.settings["density"] = density;
  model.settings["decay"] = search.best().decay;
  return model;
}

}  // namespace

DensityObjective::DensityObjective(const DensitySettings& settings, DensityMap map, std::size_t parameters)
    : map_(std::move(map)), shape_(map_.shape(parameters)), density_(record_density(settings, shape_)) {}

void DensityObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t count = part.count();
  const DensityInputs& inputs = density_.inputs;
  gather(workspace.value(inputs.z, count), count, 1, [&](std::size_t i) { return part.z(i); });
  const Block state = workspace.value(inputs.state, count), v = workspace.value(inputs.v, count);
  const bool atoms = shape_.atoms > 0;
  thread_local std::vector<float> row, u, normal;
  row.resize(shape_.state_inputs + 2 * shape_.states + shape_.atoms);
  u.resize(map_.integers());
  normal.resize(shape_.atoms);
  const auto state_row = std::span(row).first(shape_.state_inputs);
  const auto v_row = std::span(row).subspan(shape_.state_inputs, shape_.states);
  const auto keep_row = std::span(row).subspan(shape_.state_inputs + shape_.states, atoms ? shape_.states : 0);
  const auto atom_row = std::span(row).last(shape_.atoms);
  const auto put = [](std::span<const float> values, Block block, std::size_t lane) {
    for (std::size_t f = 0; f < values.size(); ++f) block(f, lane) = values[f];
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!u.empty()) stream.fill_uniform(std::span<float>(u));
    if (atoms) stream.fill_normal(std::span<float>(normal));
    map_.state(part.c(i), state_row);
    map_.increment(part.c(i), {u, normal}, v_row, atom_row, keep_row);
    put(state_row, state, i);
    put(v_row, v, i);
    if (!atoms) continue;
    put(atom_row, workspace.value(inputs.atom, count), i);
    put(keep_row, workspace.value(inputs.keep, count), i);
  }
}

Method fnle_method() {
  return {"fnle", "densities of single transitions by maximum likelihood", describe_fields<FnleSettings>(), train_fnle};
}

namespace {

FnleSettings settings_of(const TrainedModel& model) {
  if (model.method != "fnle") {
    throw InputError(fmt::format("sample: the method of {} is {}, but must be fnle", model.source, model.method));
  }
  return from_json<FnleSettings>(model.source, model.settings);
}

}  // namespace

DensityModel::DensityModel(const TrainedModel& trained)
    : model(&trained),
      settings(settings_of(trained)),
      map(trained.features, trained.state_names, settings.inputs,
          densities().at(trained.source, settings.density.density).noise_at_atoms),
      shape(map.shape(trained.prior.size())) {}

Matrix draw_transitions(const DensityModel& model, ConstMatrixView z, ConstMatrixView x, std::span<const double> times,
                        const Streams& streams) {
  check::equal("draw_transitions", "the number of parameters", z.cols, model.shape.parameters);
  check::equal("draw_transitions", "the number of states", x.cols, model.shape.states);
  check::equal("draw_transitions", "the number of rows of x", x.rows, z.rows);
  const Features& features = model.model->features;
  if (features.uses_time()) check::equal("draw_transitions", "the number of times", times.size(), z.rows);
  const std::size_t rows = z.rows, atoms = model.shape.atoms;
  Matrix state(rows, model.shape.state_inputs), atom(rows, atoms), keep(rows, x.cols), v(rows, x.cols);
  std::vector<std::vector<float>> c(rows, std::vector<float>(features.size()));
  std::vector<float> inputs(model.shape.state_inputs);
  for (std::size_t r = 0; r < rows; ++r) {
    features.apply(x.row(r), x.row(r), features.uses_time() ? times[r] : 0, c[r]);
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
  for (std::size_t r = 0; r < rows; ++r) model.map.next_state(c[r].data(), v.row(r), keep.row(r), next.row(r));
  return next;
}

}  // namespace catena::train
