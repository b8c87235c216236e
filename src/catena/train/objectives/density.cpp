#include "catena/train/objectives/density.h"

#include <cmath>
#include <vector>

namespace catena::train {
namespace {

model::DensityShape shape_of(const model::DensityMap& map, std::size_t parameters, bool blurred) {
  return map.shape(parameters + (blurred ? model::blur_features : 0));
}

}  // namespace

DensityObjective::DensityObjective(const model::DensitySettings& settings, model::DensityMap map,
                                   std::size_t parameters, std::optional<BlurLevels> blur)
    : map_(std::move(map)),
      blur_(blur),
      shape_(shape_of(map_, parameters, blur_.has_value())),
      density_(model::record_density(settings, shape_)) {}

/// z itself or, from θ_a = m z + σ ε, ẑ = (1 − τ²) z + τ √(1 − τ²) ε and τ.
void DensityObjective::fill_parameters(Block z, const BatchPart& part, Stream& stream) const {
  const std::size_t count = part.count(), d = part.examples.parameters;
  if (!blur_) {
    gather(z, count, 1, [&](std::size_t i) { return part.z(i); });
    return;
  }
  thread_local std::vector<float> place, epsilon, row;
  thread_local std::vector<double> z_hat;
  place.resize(count);
  epsilon.resize(count * d);
  row.resize(d + model::blur_features);
  z_hat.resize(d);
  stream.fill_uniform(place);
  stream.fill_normal(epsilon);
  for (std::size_t i = 0; i < count; ++i) {
    const double tau = blur_->at(part, i, place[i]), kept = 1 - tau * tau;
    for (std::size_t f = 0; f < d; ++f) z_hat[f] = kept * part.z(i)[f] + tau * std::sqrt(kept) * epsilon[i * d + f];
    model::blur_inputs(z_hat, tau, row);
    for (std::size_t f = 0; f < row.size(); ++f) z(f, i) = row[f];
  }
}

void DensityObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t count = part.count();
  const model::DensityInputs& inputs = density_.inputs;
  fill_parameters(workspace.value(inputs.z, count), part, stream);
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

DecaySearch density_search(const model::DensitySettings& settings, const model::DensityInputSettings& inputs,
                           double decay, const std::string& effort, const LoopSettings& loop, const TrainingData& data,
                           std::optional<BlurLevels> blur) {
  const bool any = settings.density == "auto";
  std::vector<std::string> kinds{any ? "gaussian" : settings.density};
  // Whether separable densities are any good for blurred parameters nobody has tried.
  if (any && !blur && data.features().target() <= model::most_separable_states) kinds.emplace_back("separable");
  DecaySearch search{.kinds = std::move(kinds),
                     .others = any ? std::vector<std::string>{"mixture"} : std::vector<std::string>{},
                     .decay = decay,
                     .loop = loop,
                     .objective = [settings, inputs, &data, blur](const std::string& kind) {
                       model::DensitySettings density = settings;
                       density.density = kind;
                       model::DensityMap map(data.features(), data.state_names(), inputs,
                                             model::densities().at("train", kind).noise_at_atoms);
                       return std::make_unique<DensityObjective>(density, std::move(map), data.prior().size(), blur);
                     }};
  return with_effort(std::move(search), effort);
}

}  // namespace catena::train
