#include "catena/compose/scores/network_scores.h"

#include <algorithm>
#include <vector>

#include "catena/compose/precision.h"
#include "catena/compose/scores/score_source.h"
#include "catena/core/check.h"
#include "catena/model/local_gaussian.h"
#include "catena/model/score/local_precondition.h"
#include "catena/nn/kernels/products.h"
#include "catena/nn/rows.h"
#include "catena/nn/workspace_pool.h"

namespace catena::compose {
namespace {

using model::Precondition;

constexpr std::size_t score_block_lanes = 64;  // a block's activations then stay in the first cache

/// c_in θ_a of particles [begin, begin + lanes) into the lanes of a network's input.
void fill_variable(Block variable, ConstMatrixView theta_a, std::size_t begin, double c_in) {
  for (std::size_t f = 0; f < variable.features; ++f) {
    for (std::size_t l = 0; l < variable.lanes; ++l) {
      variable(f, l) = static_cast<float>(c_in * theta_a(begin + l, f));
    }
  }
}

/// One network of a model and what it sees of the series: the score itself, and the error in its mean, which is
/// subtracted (train/objectives/centre.h).
struct Part {
  model::ScoreNetworkSettings settings;
  const model::NamedWeights* weights;
  Matrix c;
  double sign;
  std::shared_ptr<const std::vector<model::LocalCoordinates>> local = nullptr;  // one a transition; none: (m y − θ_a)/v
};

/// What a network in the local posteriors' coordinates sees: c with LocalCoordinates' own features behind it.
Matrix with_local_features(ConstMatrixView c, const std::vector<model::LocalCoordinates>& local, std::size_t d) {
  Matrix seen(c.rows, c.cols + model::local_features(d));
  std::vector<float> features(model::local_features(d));
  for (std::size_t t = 0; t < c.rows; ++t) {
    std::ranges::copy(c.row(t), seen.row(t).begin());
    local[t].features(features);
    std::ranges::copy(features, seen.row(t).begin() + static_cast<std::ptrdiff_t>(c.cols));
  }
  return seen;
}

std::vector<Part> parts_of(const model::ScoreModel& model, const ObservedSeries& series) {
  std::vector<Part> parts;
  Part member{model::chosen_network(model.settings), nullptr, series.c, 1.0 / model.settings.ensemble};
  if (chosen_network(model.settings).local()) {
    const std::size_t d = model.model->prior.size();
    const Matrix outputs = model::local_gaussian(*model.model, model.settings)->evaluate(series.c);
    const auto local = std::make_shared<std::vector<model::LocalCoordinates>>(outputs.rows());
    for (std::size_t t = 0; t < outputs.rows(); ++t) (*local)[t].set(outputs.row(t), d);
    member.c = with_local_features(series.c, *local, d);
    member.local = local;
  }
  for (int k = 0; k < model.settings.ensemble; ++k) {
    member.weights = &model.model->network(model::score_name(k)).weights;
    parts.push_back(member);
  }
  if (!model.settings.centre) return parts;
  const model::Features& features = model.model->features;
  Matrix states(series.c.rows(), features.known());
  for (std::size_t t = 0; t < states.rows(); ++t) {
    for (std::size_t f = 0; f < states.cols(); ++f) states(t, f) = series.c(t, features.known(f));
  }
  parts.push_back({model::centre_network(), &model.model->network("centre").weights, std::move(states), -1});
  return parts;
}

/// ψ(c_t), one transition a row.
Matrix summaries(const Part& part, const std::string& source) {
  const model::SummaryGraph network = model::record_summary(part.settings, part.c.cols());
  Matrix psi(part.c.rows(), network.graph.features(network.psi));
  nn::run_rows(
      network.graph, model::flat_weights(network.graph, *part.weights, source), psi.rows(),
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::rows_to_lanes(part.c, begin, workspace.value(network.condition, lanes));
      },
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::lanes_to_rows(ConstBlock(workspace.value(network.psi, lanes)), begin, psi.view());
      });
  return psi;
}

/// Adds the transitions of a series to the coefficients of one separable network. Every entry of Σ_t y_t and Σ_t C_t
/// y_t is a linear combination of Φ and b, whose coefficients are sums over the series:
///
///   Σ_t y_t = Φ Ψ + T b,  Ψ = Σ_t ψ_t;   (Σ_t C_t y_t)_i = Σ_jk Φ_jk Σ_t C_t,ij ψ_t,k + Σ_j (Σ_t C_t,ij) b_j.
void add_to_coefficients(const Part& part, const std::string& source, std::size_t d, const LocalPrecisions& precisions,
                         Matrix& coefficients) {
  const Matrix psi = summaries(part, source);
  const std::size_t terms = psi.cols() + 1;  // the last one stands for b
  const bool diagonal = precisions.cols() == d;
  for (std::size_t t = 0; t < psi.rows(); ++t) {
    for (std::size_t k = 0; k < terms; ++k) {
      const double value = part.sign * (k + 1 < terms ? psi(t, k) : 1);
      for (std::size_t i = 0; i < d; ++i) {
        coefficients(i, i * terms + k) += value;
        for (std::size_t j = 0; precisions.rows() > 0 && j < d; ++j) {
          if (diagonal && i != j) continue;
          coefficients(d + i, j * terms + k) += value * precisions(t, diagonal ? i : i * d + j);
        }
      }
    }
  }
}

/// Σ_t C_t, whatever the form of the C_t; without rows if there are none.
Matrix sum_of(const LocalPrecisions& precisions, std::size_t d) {
  Matrix sum(precisions.rows() > 0 ? d : 0, d);
  for (std::size_t t = 0; t < precisions.rows(); ++t) {
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        if (precisions.cols() > d) sum(i, j) += precisions(t, i * d + j);
        if (precisions.cols() == d && i == j) sum(i, i) += precisions(t, i);
      }
    }
  }
  return sum;
}

/// The sums of one separable network, with its coefficients given.
class SummedNetwork {
 public:
  SummedNetwork(const Part& part, const std::string& source, std::size_t d, const Matrix& coefficients)
      : network_(model::record_coefficients(part.settings, d, nn::Lanes::one())),
        weights_(model::flat_weights(network_.graph, *part.weights, source)),
        pool_(network_.graph, score_block_lanes, nn::Purpose::inference()),
        outputs_(coefficients.rows()),
        coefficients_(coefficients.values().begin(), coefficients.values().end()) {
    CATENA_ASSERT(coefficients.cols() == network_.graph.features(network_.phi));
  }

  /// The sums at particles [begin, begin + lanes), added to `out` if `accumulate`.
  void operator()(ConstMatrixView theta_a, std::size_t begin, const Precondition& p, Block out, bool accumulate) {
    const auto workspace = pool_.borrow();
    const std::size_t columns = coefficients_.size() / outputs_;
    fill_variable(workspace->value(network_.variable, out.lanes), theta_a, begin, p.c_in);
    workspace->value(network_.level, out.lanes)(0, 0) = static_cast<float>(p.sigma);
    workspace->forward(weights_, out.lanes);
    nn::kernels::product({coefficients_.data(), outputs_, columns, columns, 1},
                         workspace->value(network_.phi, out.lanes), nullptr,
                         accumulate ? ConstBlock(out) : ConstBlock(), out);
  }

 private:
  model::CoefficientGraph network_;
  AlignedVector<float> weights_;
  nn::WorkspacePool pool_;
  std::size_t outputs_;                // d, or 2d with precisions
  AlignedVector<float> coefficients_;  // outputs × d (K + 1)
};

/// The sums of a separable model: Σ_t s_t = (m Σ_t y_t − T θ_a)/v, and with the C_t alike.
class SeparableSums final : public SummedScores {
 public:
  SeparableSums(const model::ScoreModel& model, const std::vector<Part>& parts, const std::vector<Matrix>& coefficients,
                Matrix precision_sum, double transitions)
      : model_(model),
        d_(model.model->prior.size()),
        outputs_(coefficients.front().rows()),
        transitions_(transitions),
        precision_sum_(std::move(precision_sum)) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      networks_.push_back(std::make_unique<SummedNetwork>(parts[i], model.model->source, d_, coefficients[i]));
    }
  }

  void operator()(ConstMatrixView theta_a, double a, MatrixView sum, MatrixView weighted) const override {
    const Precondition p = model_.at(a);
    LaneBlock result(outputs_, score_block_lanes);
    for (std::size_t begin = 0; begin < theta_a.rows; begin += score_block_lanes) {
      Block out = result.view();
      out.lanes = std::min(score_block_lanes, theta_a.rows - begin);
      for (const auto& network : networks_) (*network)(theta_a, begin, p, out, network != networks_.front());
      for (std::size_t l = 0; l < out.lanes; ++l) {
        for (std::size_t i = 0; i < d_; ++i) {
          sum(begin + l, i) = (p.m * out(i, l) - transitions_ * theta_a(begin + l, i)) / p.v;
          if (weighted.rows == 0) continue;
          double c_theta = 0;
          for (std::size_t j = 0; j < d_; ++j) c_theta += precision_sum_(i, j) * theta_a(begin + l, j);
          weighted(begin + l, i) = (p.m * out(d_ + i, l) - c_theta) / p.v;
        }
      }
    }
  }

 private:
  model::ScoreModel model_;
  std::size_t d_, outputs_;
  double transitions_;
  std::vector<std::unique_ptr<SummedNetwork>> networks_;
  Matrix precision_sum_;
};

/// Coefficients of every network, none of which has seen a transition.
std::vector<Matrix> no_coefficients(const std::vector<Part>& parts, std::size_t d, bool with_precisions) {
  std::vector<Matrix> result;
  for (const Part& part : parts) {
    result.emplace_back(with_precisions ? 2 * d : d, d * (static_cast<std::size_t>(part.settings.terms) + 1));
  }
  return result;
}

/// One network at single transitions.
class LocalNetwork {
 public:
  LocalNetwork(Part part, const std::string& source, std::size_t d)
      : part_(std::move(part)),
        network_(model::record_score(part_.settings, d, part_.c.cols(), nn::Lanes::one())),
        weights_(model::flat_weights(network_.graph, *part_.weights, source)),
        plain_(network_.graph, score_block_lanes, nn::Purpose::inference()),
        with_tangents_(network_.graph, score_block_lanes, {.tangents_of = {network_.variable}}) {}

  /// Adds ± m y/v to `out` and ± m c_in ∂y/v to `jacobians` (if it has rows) for transitions [begin, end); in local
  /// coordinates ± Lᵀ V⁻¹ (m y − ξ_a) and its derivatives.
  void add(ConstMatrixView theta_a, const Precondition& p, std::size_t begin, std::size_t end, MatrixView out,
           MatrixView jacobians) {
    const auto workspace = (jacobians.rows > 0 ? with_tangents_ : plain_).borrow();
    const std::size_t n = theta_a.rows;
    const double factor = part_.sign * p.m / p.v;
    std::vector<model::LocalLevel> levels(part_.local ? end - begin : 0);
    for (std::size_t t = begin; t < begin + levels.size(); ++t) (*part_.local)[t].at(p.m, p.sigma, levels[t - begin]);
    Matrix xi(levels.empty() ? 0 : score_block_lanes, theta_a.cols);
    for (std::size_t first = 0; first < n; first += score_block_lanes) {
      const std::size_t lanes = std::min(score_block_lanes, n - first);
      for (std::size_t t = begin; t < end; ++t) {
        // Inputs share memory with later values, so they are written anew for every transition.
        const model::LocalLevel* level = part_.local ? &levels[t - begin] : nullptr;
        if (level != nullptr) {
          look(*level, theta_a, first, workspace->value(network_.variable, lanes), xi);
        } else {
          fill_variable(workspace->value(network_.variable, lanes), theta_a, first, p.c_in);
        }
        const Block condition = workspace->value(network_.condition, lanes);
        for (std::size_t f = 0; f < condition.features; ++f) {
          std::fill_n(condition.feature(f), lanes, static_cast<float>(part_.c(t, f)));
        }
        workspace->value(network_.level, lanes)(0, 0) = static_cast<float>(p.sigma);
        workspace->forward(weights_, lanes);
        const Block y = workspace->value(network_.y, lanes);
        const std::size_t row = (t - begin) * n + first;
        if (level != nullptr) {
          add_local(*level, y, xi, row, out);
          if (jacobians.rows > 0) add_local_jacobians(*workspace, *level, lanes, row, jacobians);
          continue;
        }
        for (std::size_t i = 0; i < y.features; ++i) {
          for (std::size_t l = 0; l < lanes; ++l) out(row + l, i) += factor * y(i, l);
        }
        if (jacobians.rows > 0) add_jacobians(*workspace, lanes, factor * p.c_in, row, jacobians);
      }
    }
  }

 private:
  /// ξ_a of particles [first, first + lanes) and, for the network, w.
  static void look(const model::LocalLevel& level, ConstMatrixView theta_a, std::size_t first, Block variable,
                   Matrix& xi) {
    for (std::size_t l = 0; l < variable.lanes; ++l) {
      level.local(theta_a.row(first + l), xi.row(l));
      for (std::size_t f = 0; f < variable.features; ++f) {
        variable(f, l) = static_cast<float>(level.scale[f] * xi(l, f));
      }
    }
  }

  void add_local(const model::LocalLevel& level, ConstBlock y, const Matrix& xi, std::size_t row,
                 MatrixView out) const {
    const std::size_t d = level.size();
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        const double gain = part_.sign * level.gain[i * d + j];
        for (std::size_t l = 0; l < y.lanes; ++l) out(row + l, i) += gain * (level.m * y(j, l) - xi(l, j));
      }
    }
  }

  /// ∂s/∂θ_j = Lᵀ V⁻¹ (m ∂y/∂w (scale ∘ L_j) − L_j), L_j the j-th column.
  void add_local_jacobians(nn::Workspace& workspace, const model::LocalLevel& level, std::size_t lanes, std::size_t row,
                           MatrixView jacobians) const {
    const Block direction = workspace.tangent(network_.variable, lanes);
    const std::size_t d = level.size();
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t f = 0; f < d; ++f) {
        std::fill_n(direction.feature(f), lanes, static_cast<float>(level.scale[f] * level.l[f * d + j]));
      }
      workspace.tangents(weights_, lanes);
      const Block change = workspace.tangent(network_.y, lanes);
      for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t k = 0; k < d; ++k) {
          const double gain = part_.sign * level.gain[i * d + k];
          for (std::size_t l = 0; l < lanes; ++l) {
            jacobians(row + l, i * d + j) += gain * (level.m * change(k, l) - level.l[k * d + j]);
          }
        }
      }
    }
  }

  void add_jacobians(nn::Workspace& workspace, std::size_t lanes, double factor, std::size_t row,
                     MatrixView jacobians) const {
    const Block direction = workspace.tangent(network_.variable, lanes);
    const std::size_t d = direction.features;
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t f = 0; f < d; ++f) std::fill_n(direction.feature(f), lanes, f == j ? 1.0F : 0.0F);
      workspace.tangents(weights_, lanes);
      const Block change = workspace.tangent(network_.y, lanes);
      for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t l = 0; l < lanes; ++l) jacobians(row + l, i * d + j) += factor * change(i, l);
      }
    }
  }

  Part part_;
  model::ScoreGraph network_;
  AlignedVector<float> weights_;
  nn::WorkspacePool plain_, with_tangents_;
};

class NetworkScores final : public LocalScores {
 public:
  NetworkScores(const model::ScoreModel& model, const ObservedSeries& series)
      : model_(model),
        d_(model.model->prior.size()),
        transitions_(series.transitions()),
        parts_(parts_of(model, series)) {
    for (const Part& part : parts_) networks_.push_back(std::make_unique<LocalNetwork>(part, model.model->source, d_));
  }

  std::size_t transitions() const override { return transitions_; }
  std::size_t dimension() const override { return d_; }
  bool has_jacobians() const override { return true; }

  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    scores_and_jacobians(theta_a, a, begin, end, out, MatrixView());
  }

  /// s = (m y − θ_a)/v and ∂s/∂θ_a = (m c_in ∂y/∂(c_in θ_a) − I)/v; in local coordinates the networks have all of it.
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    const Precondition p = model_.at(a);
    const double slope = chosen_network(model_.settings).local() ? 0 : -1 / p.v;
    for (std::size_t row = 0; row < out.rows; ++row) {
      for (std::size_t i = 0; i < d_; ++i) {
        out(row, i) = slope * theta_a(row % theta_a.rows, i);
        for (std::size_t j = 0; jacobians.rows > 0 && j < d_; ++j) jacobians(row, i * d_ + j) = i == j ? slope : 0;
      }
    }
    for (const auto& network : networks_) network->add(theta_a, p, begin, end, out, jacobians);
  }

  std::unique_ptr<SummedScores> summed(const LocalPrecisions& precisions) const override {
    if (model_.settings.network != "separable") return nullptr;
    std::vector<Matrix> coefficients = no_coefficients(parts_, d_, precisions.rows() > 0);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      add_to_coefficients(parts_[i], model_.model->source, d_, precisions, coefficients[i]);
    }
    return std::make_unique<SeparableSums>(model_, parts_, coefficients, sum_of(precisions, d_),
                                           static_cast<double>(transitions_));
  }

 private:
  model::ScoreModel model_;
  std::size_t d_, transitions_;
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<LocalNetwork>> networks_;
};

std::string coefficients_name(std::size_t part) { return fmt::format("coefficients.{}", part); }

/// Sums are all that is left of a stream.
class SummedOnly final : public LocalScores {
 public:
  SummedOnly(const model::ScoreModel& model, SeriesSums sums, std::size_t transitions)
      : model_(model), sums_(std::move(sums)), transitions_(transitions) {}
  std::size_t transitions() const override { return transitions_; }
  std::size_t dimension() const override { return model_.model->prior.size(); }
  void scores(ConstMatrixView, double, std::size_t, std::size_t, MatrixView) const override {
    throw InputError("sample: the state of a stream has sums of scores only, which the rule gauss needs");
  }
  std::unique_ptr<SummedScores> summed(const LocalPrecisions&) const override {
    const std::vector<Part> parts = parts_of(model_, {});
    std::vector<Matrix> coefficients;
    for (std::size_t i = 0; i < parts.size(); ++i) coefficients.push_back(sums_.at(coefficients_name(i)));
    return std::make_unique<SeparableSums>(model_, parts, coefficients, sums_.at("precision_sum"),
                                           static_cast<double>(transitions_));
  }

 private:
  model::ScoreModel model_;
  SeriesSums sums_;
  std::size_t transitions_;
};

}  // namespace

void scores_of_records(const model::ScoreModel& model, const ObservedSeries& records, std::span<const double> theta_a,
                       double a, MatrixView out) {
  const Precondition p = model.at(a);
  const double slope = chosen_network(model.settings).local() ? 0 : -1 / p.v;
  for (std::size_t r = 0; r < out.rows; ++r) {
    for (std::size_t i = 0; i < out.cols; ++i) out(r, i) = slope * theta_a[i];
  }
  for (const Part& part : parts_of(model, records)) {
    Matrix xi(part.local ? out.rows : 0, out.cols);
    model::LocalLevel level;
    const model::ScoreGraph network =
        model::record_score(part.settings, theta_a.size(), part.c.cols(), nn::Lanes::one());
    nn::run_rows(
        network.graph, model::flat_weights(network.graph, *part.weights, model.model->source), out.rows,
        [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
          const Block variable = workspace.value(network.variable, lanes);
          for (std::size_t f = 0; f < variable.features; ++f) {
            std::fill_n(variable.feature(f), lanes, static_cast<float>(p.c_in * theta_a[f]));
          }
          for (std::size_t l = 0; part.local && l < lanes; ++l) {
            (*part.local)[begin + l].at(p.m, p.sigma, level);
            level.local(theta_a, xi.row(begin + l));
            for (std::size_t f = 0; f < variable.features; ++f) {
              variable(f, l) = static_cast<float>(level.scale[f] * xi(begin + l, f));
            }
          }
          nn::rows_to_lanes(part.c, begin, workspace.value(network.condition, lanes));
          workspace.value(network.level, lanes)(0, 0) = static_cast<float>(p.sigma);
        },
        [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
          const Block y = workspace.value(network.y, lanes);
          for (std::size_t l = 0; part.local && l < lanes; ++l) {
            (*part.local)[begin + l].at(p.m, p.sigma, level);
            for (std::size_t i = 0; i < y.features; ++i) {
              for (std::size_t j = 0; j < y.features; ++j) {
                out(begin + l, i) += part.sign * level.gain[i * y.features + j] * (p.m * y(j, l) - xi(begin + l, j));
              }
            }
          }
          for (std::size_t i = 0; !part.local && i < y.features; ++i) {
            for (std::size_t l = 0; l < lanes; ++l) out(begin + l, i) += part.sign * p.m / p.v * y(i, l);
          }
        });
  }
}

SeriesSums score_sums(const model::ScoreModel& model, const ObservedSeries& series) {
  check::that(model.settings.network == "separable", "sample", "the network of a streaming model",
              model.settings.network, "separable");
  const std::size_t d = model.model->prior.size();
  const std::vector<Part> parts = parts_of(model, series);
  std::vector<Matrix> coefficients = no_coefficients(parts, d, /*with_precisions=*/true);
  SeriesSums sums{{"precision_sum", Matrix(d, d)}};
  if (series.transitions() > 0) {
    const LocalPrecisions precisions = score_sources().at("sample", "fnse").precisions(*model.model, series);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      add_to_coefficients(parts[i], model.model->source, d, precisions, coefficients[i]);
    }
    sums["precision_sum"] = sum_of(precisions, d);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) sums[coefficients_name(i)] = std::move(coefficients[i]);
  return sums;
}

std::unique_ptr<LocalScores> scores_of_sums(const model::ScoreModel& model, const SeriesSums& sums,
                                            std::size_t transitions) {
  return std::make_unique<SummedOnly>(model, sums, transitions);
}

Eigen::MatrixXd precision_of_sums(const SeriesSums& sums, std::size_t transitions) {
  Eigen::MatrixXd lambda = map(sums.at("precision_sum").view());
  lambda.diagonal().array() -= static_cast<double>(transitions) - 1;
  return lambda;
}

std::unique_ptr<LocalScores> network_scores(const model::ScoreModel& model, const ObservedSeries& series) {
  return std::make_unique<NetworkScores>(model, series);
}

}  // namespace catena::compose
