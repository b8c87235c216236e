#include "catena/compose/scores/record_scores.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "catena/compose/density/density_rows.h"
#include "catena/compose/scores/network_scores.h"
#include "catena/core/registry.h"
#include "catena/model/density/blur.h"
#include "catena/model/density/blurred_model.h"
#include "catena/nn/rows.h"

namespace catena::compose {
namespace {

/// One recorded network: values and their gradients in z, a row for each record.
class ValueNetwork {
 public:
  ValueNetwork(nn::Graph graph, nn::Value z, nn::Value value, double factor, const model::NamedWeights& weights,
               const std::string& source)
      : graph_(std::move(graph)),
        z_(z),
        value_(value),
        factor_(factor),
        weights_(model::flat_weights(graph_, weights, source)) {}

  struct Input {
    nn::Value value;
    ConstMatrixView rows;
  };
  /// Adds factor · value and factor · ∂value/∂z; `z` are the network's inputs, a row for each record or one for all, of
  /// which the first columns of `score` count.
  void add(ConstMatrixView z, std::span<const Input> inputs, MatrixView score, std::span<double> value) const {
    nn::run_rows(
        graph_, weights_, score.rows,
        [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
          const Block at = workspace.value(z_, lanes);
          for (std::size_t f = 0; f < at.features; ++f) {
            for (std::size_t l = 0; l < lanes; ++l) {
              at(f, l) = static_cast<float>(z(z.rows == 1 ? 0 : begin + l, f));
            }
          }
          for (const Input& input : inputs) nn::rows_to_lanes(input.rows, begin, workspace.value(input.value, lanes));
        },
        [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
          const Block found = workspace.value(value_, lanes);
          for (std::size_t l = 0; l < lanes && !value.empty(); ++l) value[begin + l] += factor_ * found(0, l);
          std::fill_n(workspace.gradient(value_, lanes).data, lanes, static_cast<float>(factor_));
          workspace.reverse(weights_, lanes, value_, {});
          const Block gradient = workspace.gradient(z_, lanes);
          for (std::size_t l = 0; l < lanes; ++l) {
            for (std::size_t f = 0; f < score.cols; ++f) score(begin + l, f) += gradient(f, l);
          }
        },
        {.keep_values = true, .input_gradients = {z_}});
  }

 private:
  nn::Graph graph_;
  nn::Value z_, value_;
  double factor_;
  AlignedVector<float> weights_;
};

void clear(MatrixView score, std::span<double> value) {
  for (std::size_t r = 0; r < score.rows; ++r) std::ranges::fill(score.row(r), 0.0);
  std::ranges::fill(value, 0.0);
}

ObservedSeries records_of(ConstMatrixView c) {
  ObservedSeries records;
  records.c = Matrix(c.rows, c.cols);
  for (std::size_t r = 0; r < c.rows; ++r) std::ranges::copy(c.row(r), records.c.row(r).begin());
  return records;
}

/// log q of a density, whose z may carry the inputs of a blur behind it.
class DensityScores {
 public:
  DensityScores(const model::DensitySettings& settings, const model::DensityMap& map, const model::DensityShape& shape,
                const model::NamedWeights& weights, const std::string& source)
      : map_(map), shape_(shape), density_(model::record_density(settings, shape)), weights_(weights), source_(source) {
    network_ = std::make_unique<ValueNetwork>(density_.graph, density_.inputs.z, density_.loss, -1, weights_, source_);
  }

  /// ½ log 2π for each coordinate that is kept, and what turns densities of v into those of x^(t+1).
  std::vector<double> log_constants(ConstMatrixView c) const {
    return density_constants(shape_, density_rows(map_, shape_, records_of(c)));
  }

  void evaluate(ConstMatrixView c, ConstMatrixView z, MatrixView score, std::span<double> value) const {
    clear(score, value);
    const DensityRows rows = density_rows(map_, shape_, records_of(c));
    std::vector<ValueNetwork::Input> inputs;
    const auto input = [&](nn::Value to, const Matrix& from) {
      if (to.node >= 0 && from.cols() > 0) inputs.push_back({to, from});
    };
    input(density_.inputs.state, rows.state);
    input(density_.inputs.v, rows.v);
    input(density_.inputs.atom, rows.atom);
    input(density_.inputs.keep, rows.keep);
    network_->add(z, inputs, score, value);
  }

 private:
  model::DensityMap map_;
  model::DensityShape shape_;
  model::DensityGraph density_;
  const model::NamedWeights& weights_;
  std::string source_;
  std::unique_ptr<ValueNetwork> network_;
};

class LikelihoodScores final : public RecordScores {
 public:
  explicit LikelihoodScores(const model::TrainedModel& trained)
      : LikelihoodScores(model::DensityModel(trained), trained.source) {}
  bool has_value() const override { return true; }
  void evaluate_at(ConstMatrixView c, ConstMatrixView z, MatrixView score, std::span<double> value) const override {
    density_.evaluate(c, z, score, value);
  }
  std::vector<double> log_constants(ConstMatrixView c) const override { return density_.log_constants(c); }

 private:
  LikelihoodScores(const model::DensityModel& model, const std::string& source)
      : density_(model.settings.density, model.map, model.shape, model.weights(), source) {}
  DensityScores density_;
};

/// q_0, whose ẑ is z.
class BlurredLikelihoodScores final : public RecordScores {
 public:
  explicit BlurredLikelihoodScores(const model::TrainedModel& trained)
      : BlurredLikelihoodScores(model::BlurredModel(trained), trained.source) {}
  bool has_value() const override { return true; }
  void evaluate_at(ConstMatrixView c, ConstMatrixView z, MatrixView score, std::span<double> value) const override {
    Matrix inputs(z.rows, z.cols + model::blur_features);
    std::vector<float> row(inputs.cols());
    for (std::size_t r = 0; r < z.rows; ++r) {
      model::blur_inputs(z.row(r), 0, row);
      std::ranges::copy(row, inputs.row(r).begin());
    }
    density_.evaluate(c, inputs, score, value);
  }
  std::vector<double> log_constants(ConstMatrixView c) const override { return density_.log_constants(c); }

 private:
  BlurredLikelihoodScores(const model::BlurredModel& model, const std::string& source)
      : density_(model.settings.density, model.map, model.shape, model.weights(), source) {}
  DensityScores density_;
};

class RatioScores final : public RecordScores {
 public:
  explicit RatioScores(const model::TrainedModel& trained) : model_(trained) {
    const int count = model_.settings.ensemble;
    for (int k = 0; k < count; ++k) {
      model::RatioGraph ratio = model::record_ratio(model_.settings.network, model_.shape);
      inputs_ = ratio.inputs;
      members_.emplace_back(std::move(ratio.graph), ratio.inputs.z, ratio.ratio, 1.0 / count, model_.weights(k),
                            trained.source);
    }
  }
  bool has_value() const override { return true; }
  void evaluate_at(ConstMatrixView c, ConstMatrixView z, MatrixView score, std::span<double> value) const override {
    clear(score, value);
    const RatioRows rows(model_, records_of(c));
    const ValueNetwork::Input inputs[] = {{inputs_.state, rows.state}, {inputs_.increment, rows.increment}};
    for (const ValueNetwork& member : members_) member.add(z, inputs, score, value);
  }

 private:
  model::RatioModel model_;
  model::RatioInputs inputs_;
  std::vector<ValueNetwork> members_;
};

/// s(z, a) less the diffused prior's −θ_a/(m² + σ²).
class NoisyScores final : public RecordScores {
 public:
  NoisyScores(const model::TrainedModel& trained, double noise)
      : model_(trained), a_(std::max(model_.schedule.a_min, model_.schedule.a_at(noise))) {}
  bool has_value() const override { return false; }
  void evaluate_at(ConstMatrixView c, ConstMatrixView z, MatrixView score, std::span<double>) const override {
    CATENA_ASSERT(z.rows == 1);  // the statistic of a correction is taken at one z
    const double m = model_.schedule.m(a_);
    std::vector<double> theta_a(z.row(0).begin(), z.row(0).end());
    for (double& value : theta_a) value *= m;
    scores_of_records(model_, records_of(c), theta_a, a_, score);
    const double variance = m * m + model_.schedule.sigma_squared(a_);
    for (std::size_t r = 0; r < score.rows; ++r) {
      for (std::size_t f = 0; f < score.cols; ++f) score(r, f) = m * (score(r, f) + theta_a[f] / variance);
    }
  }

 private:
  model::ScoreModel model_;
  double a_;
};

struct RecordScoreSource {
  std::string_view name;  // the method's
  std::unique_ptr<RecordScores> (*make)(const model::TrainedModel& model, double noise);
};

template <class S>
RecordScoreSource source_for(std::string_view method) {
  return {method, [](const model::TrainedModel& model, double noise) -> std::unique_ptr<RecordScores> {
            if constexpr (std::is_constructible_v<S, const model::TrainedModel&, double>) {
              return std::make_unique<S>(model, noise);
            } else {
              return std::make_unique<S>(model);
            }
          }};
}

const Registry<RecordScoreSource>& record_score_sources() {
  static const Registry<RecordScoreSource> registry(
      "method with local scores", {source_for<LikelihoodScores>("fnle"), source_for<RatioScores>("fnre"),
                                   source_for<NoisyScores>("fnse"), source_for<BlurredLikelihoodScores>("fnbe")});
  return registry;
}

}  // namespace

std::unique_ptr<RecordScores> record_scores(std::string_view function, const model::TrainedModel& model, double noise) {
  return record_score_sources().at(function, model.method).make(model, noise);
}

}  // namespace catena::compose
