#include "catena/train/objectives/centre.h"

#include <algorithm>

#include "catena/model/score/local_precondition.h"
#include "catena/nn/layers.h"

namespace catena::train {
namespace {

constexpr std::size_t largest_block = nn::training_block_lanes;

void copy(ConstBlock from, Block to) {
  for (std::size_t f = 0; f < from.features; ++f) std::copy_n(from.feature(f), from.lanes, to.feature(f));
}

/// (v s + θ_a)/m, what y would have to be in the preconditioning of model/score/network.h.
float in_common_scale(const model::LocalLanes& posteriors, const NoiseLevel& now, ConstBlock y, ConstBlock theta_a,
                      std::size_t f, std::size_t lane) {
  double s = 0;
  for (std::size_t j = 0; j < y.features; ++j) {
    s += posteriors.gain(f, j, lane) * (now.m * y(j, lane) - posteriors.xi(j, lane));
  }
  return static_cast<float>((now.v * s + theta_a(f, lane)) / now.m);
}

}  // namespace

CentreObjective::CentreObjective(const model::ScoreNetworkSettings& network, const std::string& schedule,
                                 const ScoreLossSettings& loss, const std::vector<const model::NamedWeights*>& members,
                                 const std::string& source, const TrainingData& data,
                                 std::shared_ptr<const model::LocalGaussianNetwork> local)
    : levels_(diffusion::schedules().at("train", schedule).schedule, loss.levels, loss.smallest_eta, "precondition",
              network.prior_share),
      data_(data),
      score_(model::record_score(network, data.prior().size(),
                                 data.features().size() + (local ? model::local_features(data.prior().size()) : 0),
                                 nn::Lanes::each())),
      centre_(model::record_score(model::centre_network(), data.prior().size(), data.features().known(),
                                  nn::Lanes::each())),
      frozen_(score_.graph, largest_block, nn::Purpose::inference()),
      local_(std::move(local)) {
  for (const model::NamedWeights* member : members) {
    members_.push_back(model::flat_weights(score_.graph, *member, source));
  }
  const std::size_t parameters = data.prior().size();
  nn::Graph& graph = centre_.graph;
  target_ = graph.input("target", parameters);
  weight_ = graph.input("weight", 1);
  const nn::Value error = graph.apply("scale_lanes", {weight_, nn::subtract(graph, centre_.y, target_)});
  loss_ = graph.apply("lane_dot", {error, error});
}

std::size_t CentreObjective::unseen_row(std::size_t row) const {
  if (data_.folds() == 1) return row;
  const std::size_t folds = std::min(members_.size(), data_.folds());
  const std::size_t unseen = folds * data_.held_out_size();  // the last rows: fold 0, before it fold 1, …
  return data_.size() - unseen + row % unseen;
}

void CentreObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t count = part.count(), d = part.examples.parameters;
  CATENA_ASSERT(count <= largest_block);
  const auto frozen = frozen_.borrow();
  const Block state = workspace.value(centre_.condition, count), variable = workspace.value(centre_.variable, count),
              level = workspace.value(centre_.level, count), target = workspace.value(target_, count),
              weight = workspace.value(weight_, count);
  thread_local std::vector<float> place, epsilon;
  thread_local std::vector<std::size_t> rows;
  place.resize(count);
  epsilon.resize(count * d);
  rows.resize(count);
  stream.fill_uniform(place);
  stream.fill_normal(epsilon);
  for (std::size_t i = 0; i < count; ++i) {
    const NoiseLevel& now = levels_.at(part, i, place[i]);
    rows[i] = unseen_row(part.order[part.begin + i]);
    const float *z = part.examples.z_of(rows[i]), *c = part.examples.c_of(rows[i]);
    for (std::size_t f = 0; f < state.features; ++f) state(f, i) = c[data_.features().known(f)];
    level(0, i) = now.sigma;
    weight(0, i) = now.weight;
    for (std::size_t f = 0; f < d; ++f) {
      const float theta_a = now.m * z[f] + now.sigma * epsilon[i * d + f];
      variable(f, i) = now.c_in * theta_a;
      target(f, i) = -now.prior * theta_a;
    }
  }
  thread_local model::LocalLanes posteriors;
  thread_local std::vector<const NoiseLevel*> levels;
  thread_local std::vector<float> m;
  thread_local LaneBlock all_theta_a;
  if (all_theta_a.features() != d) all_theta_a = LaneBlock(d, largest_block);
  const Block theta_a = all_theta_a;
  levels.resize(count);
  m.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    levels[i] = &levels_.at(part, i, place[i]);
    m[i] = levels[i]->m;
    for (std::size_t f = 0; f < d; ++f) theta_a(f, i) = variable(f, i) / levels[i]->c_in;
  }
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Block condition = frozen->value(score_.condition, count), seen = frozen->value(score_.variable, count);
    gather(condition.slice_features(0, part.examples.features), count, 1,
           [&](std::size_t i) { return part.examples.c_of(rows[i]); });
    copy(variable, seen);
    if (local_) {
      posteriors.read(*local_, condition);
      posteriors.at(m, {level.feature(0), count}, theta_a, seen);
    }
    copy(level, frozen->value(score_.level, count));
    frozen->forward(members_[k], count);
    const Block y = frozen->value(score_.y, count);
    for (std::size_t i = 0; i < count; ++i) {
      const float share = share_of(k, rows[i]);
      for (std::size_t f = 0; f < d; ++f) {
        target(f, i) += share * (local_ ? in_common_scale(posteriors, *levels[i], y, theta_a, f, i) : y(f, i));
      }
    }
  }
}

float CentreObjective::share_of(std::size_t member, std::size_t row) const {
  if (data_.folds() == 1) return 1.0F / static_cast<float>(members_.size());
  const std::size_t fold = (data_.size() - 1 - row) / data_.held_out_size();
  // More members than folds: those of one fold share its rows.
  const std::size_t folds = std::min(members_.size(), data_.folds());
  if (member % folds != fold) return 0;
  const std::size_t sharing = (members_.size() - fold + folds - 1) / folds;
  return 1.0F / static_cast<float>(sharing);
}

}  // namespace catena::train
