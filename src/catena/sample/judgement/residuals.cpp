#include "catena/sample/judgement/residuals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "catena/compose/scores/record_scores.h"
#include "catena/core/log_mean_exp.h"
#include "catena/model/density/blur.h"
#include "catena/model/density/blurred_model.h"
#include "catena/model/density/density_model.h"
#include "catena/sample/finite_rows.h"

namespace catena::sample {
namespace {

constexpr std::size_t simulated = 39;                         // draws for one rank: u has steps of 1/40
constexpr std::size_t stretch = 50;                           // records in a row of a long series
constexpr std::size_t records_at_once = 64;                   // of one call of a network
constexpr std::size_t most_coordinates = 16;                  // of a state that are looked at
constexpr double difference = 0.02;                           // of z, in prior standard deviations
constexpr double scales[] = {1, 0.5, 0.25, 0.1, 0.03, 0.01};  // of own parameters, in prior standard deviations
constexpr std::size_t own_pairs = 8;                          // of own parameters at each scale

/// A density, with what its network sees of z.
struct Density {
  const model::DensitySettings& settings;
  const model::DensityMap& map;
  const model::DensityShape& shape;
  const model::NamedWeights& weights;
  const std::string& source;
  std::vector<double> z;
};

/// The ranks of records begin … end of the list.
void rank_block(const Density& density, const Matrix& c, std::span<const std::size_t> records, std::size_t begin,
                std::size_t end, const Streams& streams, std::size_t block, Matrix& u) {
  const model::DensityShape& shape = density.shape;
  const std::size_t rows = (end - begin) * simulated, atoms = shape.atoms;
  Matrix z(rows, shape.parameters), state(rows, shape.state_inputs), atom(rows, atoms), keep(rows, shape.states),
      v(rows, shape.states), observed(end - begin, shape.states);
  std::vector<float> row(c.cols()), inputs(shape.state_inputs), increment(shape.states), flags(atoms),
      kept(atoms > 0 ? shape.states : 0), uniform(density.map.integers()), normal(atoms);
  Matrix atom_value(end - begin, atoms);
  Stream noise = streams.stream("ranks", block);
  for (std::size_t k = 0; k < end - begin; ++k) {
    std::ranges::transform(c.row(records[begin + k]), row.begin(), [](double x) { return static_cast<float>(x); });
    density.map.state(row.data(), inputs);
    noise.fill_uniform(uniform);
    density.map.increment(row.data(), {uniform, normal}, increment, flags, kept);
    std::ranges::copy(increment, observed.row(k).begin());
    for (std::size_t a = 0; a < atoms; ++a) {
      const model::Atom& at = density.map.atoms()[a];
      atom_value(k, a) = density.map.atom_increment(row.data(), at);
      if (flags[a] != 0) observed(k, at.state) = atom_value(k, a);
    }
    for (std::size_t s = 0; s < simulated; ++s) {
      const std::size_t r = k * simulated + s;
      std::ranges::copy(density.z, z.row(r).begin());
      std::ranges::copy(inputs, state.row(r).begin());
      std::ranges::fill(keep.row(r), 1.0);
    }
  }
  if (atoms > 0) {
    Matrix probability(rows, atoms);
    model::atom_probabilities(shape, density.weights, density.source, z, state, probability);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t a = 0; a < atoms; ++a) {
        if (noise.uniform() >= probability(r, a)) continue;
        atom(r, a) = 1;
        keep(r, density.map.atoms()[a].state) = 0;
        v(r, density.map.atoms()[a].state) = atom_value(r / simulated, a);
      }
    }
  }
  model::densities()
      .at("sample", density.settings.density)
      .draw(density.settings, shape, density.weights, density.source, {z, state, atom, keep},
            streams.stream("increments", block), v);
  const std::vector<std::size_t> chosen = rank_coordinates(shape.states);
  for (std::size_t k = 0; k < end - begin; ++k) {
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      const std::size_t i = chosen[j];
      double below = 0, equal = 0;
      for (std::size_t s = 0; s < simulated; ++s) {
        const double value = v(k * simulated + s, i);
        below += value < observed(k, i) ? 1 : 0;
        equal += value == observed(k, i) ? 1 : 0;
      }
      u(begin + k, j) = (below + noise.uniform() * (equal + 1)) / (simulated + 1);
    }
  }
}

Matrix ranks_of(const Density& density, const Matrix& c, std::span<const std::size_t> records, const Streams& streams,
                const Parallel& parallel) {
  Matrix u(records.size(), rank_coordinates(density.shape.states).size());
  parallel.for_blocks(records.size(), records_at_once, [&](std::size_t begin, std::size_t end, std::size_t block) {
    rank_block(density, c, records, begin, end, streams, block, u);
  });
  return u;
}

/// value[t] = log p(c_t | to)/p(c_t | from), by the values or, where there are none, by Gauss's rule of three nodes for
/// the integral of the score along the line between them.
void log_quotients(const compose::RecordScores& scores, const Matrix& c, std::span<const double> from,
                   std::span<const double> to, std::span<const double> at_from, std::span<double> value) {
  Matrix score(c.rows(), from.size());
  if (scores.has_value()) {
    scores.evaluate(c, to, score, value);
    for (std::size_t t = 0; t < value.size(); ++t) value[t] -= at_from[t];
    return;
  }
  std::ranges::fill(value, 0.0);
  std::vector<double> at(from.size());
  for (const auto& [place, weight] :
       {std::pair{0.5 - std::sqrt(0.15), 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 + std::sqrt(0.15), 5.0 / 18}}) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = from[i] + place * (to[i] - from[i]);
    scores.evaluate(c, at, score, {});
    for (std::size_t t = 0; t < value.size(); ++t) {
      for (std::size_t i = 0; i < at.size(); ++i) value[t] += weight * score(t, i) * (to[i] - from[i]);
    }
  }
}

}  // namespace

Looked looked_at(const compose::ObservedSeries& observed, std::size_t most) {
  const std::size_t all = observed.transitions();
  const std::size_t stretches = std::max<std::size_t>(1, most / stretch);
  Looked looked;
  for (std::size_t t = 0; t < all; ++t) {
    if (all > most && t % (all / stretches) >= stretch) continue;
    const bool neighbours = !looked.records.empty() && looked.records.back() + 1 == t;
    looked.follows.push_back(neighbours && observed.follows[t]);
    looked.records.push_back(t);
  }
  return looked;
}

std::vector<std::size_t> rank_coordinates(std::size_t all) {
  const std::size_t count = std::min(all, most_coordinates);
  std::vector<std::size_t> chosen(count);
  for (std::size_t k = 0; k < count; ++k) chosen[k] = k * all / count;
  return chosen;
}

std::vector<std::string> rank_names(const model::TrainedModel& model) {
  const std::vector<std::string> all = model::target_names(model.features, model.seen_names());
  std::vector<std::string> names;
  for (const std::size_t i : rank_coordinates(all.size())) names.push_back(all[i]);
  return names;
}

Matrix ranks_by_density(const model::TrainedModel& model, const compose::ObservedSeries& observed,
                        std::span<const std::size_t> records, std::span<const double> z, const Streams& streams,
                        const Parallel& parallel) {
  if (model.method == "fnle") {
    const model::DensityModel density(model);
    return ranks_of(
        {density.settings.density, density.map, density.shape, density.weights(), model.source, {z.begin(), z.end()}},
        observed.c, records, streams, parallel);
  }
  if (model.method == "fnbe") {
    const model::BlurredModel density(model);
    std::vector<float> inputs(z.size() + model::blur_features);
    model::blur_inputs(z, 0, inputs);
    return ranks_of({density.settings.density,
                     density.map,
                     density.shape,
                     density.weights(),
                     model.source,
                     {inputs.begin(), inputs.end()}},
                    observed.c, records, streams, parallel);
  }
  return {};
}

ScoreResiduals score_residuals(const model::TrainedModel& model, const compose::ObservedSeries& observed,
                               std::span<const std::size_t> records, std::span<const double> z, double noise,
                               const Parallel& parallel) {
  const std::size_t d = z.size(), count = records.size();
  const auto scores = compose::record_scores("sample", model, noise);
  const Matrix c = rows_of(observed.c, records);
  // The score at z itself, then at z + difference and z − difference in each coordinate.
  std::vector<Matrix> at(1 + 2 * d, Matrix(count, d));
  parallel.for_each(at.size(), [&](std::size_t k) {
    std::vector<double> point(z.begin(), z.end());
    if (k > 0) point[(k - 1) / 2] += k % 2 == 1 ? difference : -difference;
    scores->evaluate(c, point, at[k], {});
  });
  ScoreResiduals found{at[0], Matrix(count, d)};
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t i = 0; i < d; ++i) {
      found.h(t, i) = -(at[1 + 2 * i](t, i) - at[2 + 2 * i](t, i)) / (2 * difference);
    }
  }
  return found;
}

Matrix own_parameters(const model::TrainedModel& model, const compose::ObservedSeries& observed,
                      std::span<const std::size_t> records, std::span<const double> z, const Streams& streams,
                      const Parallel& parallel) {
  const auto scores = compose::record_scores("sample", model);
  const Matrix c = rows_of(observed.c, records);
  const std::size_t d = z.size(), count = records.size(), of_scale = 2 * own_pairs;
  std::vector<double> at_z(count);
  if (scores->has_value()) {
    Matrix score(count, d);
    scores->evaluate(c, z, score, at_z);
  }
  Matrix quotient(std::size(scales) * of_scale, count);  // logarithms, one of the own parameters a row
  parallel.for_each(quotient.rows(), [&](std::size_t k) {
    Stream noise = streams.stream("own parameters", k / 2);
    std::vector<double> own(z.begin(), z.end());
    for (double& value : own) value += (k % 2 == 0 ? 1 : -1) * scales[k / of_scale] * noise.normal();
    log_quotients(*scores, c, z, own, at_z, quotient.row(k));
  });
  Matrix log_w(count, std::size(scales));
  std::vector<double> column(of_scale);
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t j = 0; j < log_w.cols(); ++j) {
      for (std::size_t k = 0; k < of_scale; ++k) column[k] = quotient(j * of_scale + k, t);
      log_w(t, j) = log_mean_exp(column);
    }
  }
  return log_w;
}

}  // namespace catena::sample
