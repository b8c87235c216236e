#include "catena/compose/network_scores.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "catena/core/check.h"
#include "catena/nn/products.h"
#include "catena/train/local_gaussian.h"

namespace catena::compose {
namespace {

using train::Precondition;

constexpr std::size_t block_lanes = 64;  // a block's activations then stay in the first cache

/// Workspaces for calls from many threads: each call borrows one. One lock per call, not per sample.
class WorkspacePool {
 public:
  WorkspacePool(const nn::Graph& graph, nn::Purpose purpose) : graph_(graph), purpose_(std::move(purpose)) {}

  class Loan {
   public:
    Loan(WorkspacePool& pool, std::unique_ptr<nn::Workspace> workspace)
        : pool_(pool), workspace_(std::move(workspace)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(std::move(workspace_));
    }
    nn::Workspace& operator*() const { return *workspace_; }
    nn::Workspace* operator->() const { return workspace_.get(); }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<nn::Workspace> workspace_;
  };

  Loan borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto workspace = std::move(free_.back());
        free_.pop_back();
        return {*this, std::move(workspace)};
      }
    }
    return {*this, std::make_unique<nn::Workspace>(graph_, block_lanes, purpose_)};
  }

 private:
  const nn::Graph& graph_;
  nn::Purpose purpose_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<nn::Workspace>> free_;
};

/// c_in θ_a of particles [begin, begin + lanes) into the lanes of a network's input.
void fill_variable(Block variable, ConstMatrixView theta_a, std::size_t begin, double c_in) {
  for (std::size_t f = 0; f < variable.features; ++f) {
    for (std::size_t l = 0; l < variable.lanes; ++l) {
      variable(f, l) = static_cast<float>(c_in * theta_a(begin + l, f));
    }
  }
}

/// The sums of a separable network. Every entry of Σ_t s_t and Σ_t C_t s_t is a linear combination of Φ and b, whose
/// coefficients are sums over the series made once:
///
///   Σ_t y_t = Φ Ψ + T b,  Ψ = Σ_t ψ_t;   (Σ_t C_t y_t)_i = Σ_jk Φ_jk Σ_t C_t,ij ψ_t,k + Σ_j (Σ_t C_t,ij) b_j.
class SeparableSums final : public SummedScores {
 public:
  SeparableSums(const train::FnseSettings& settings, const diffusion::Schedule& schedule,
                const train::TrainedModel& model, std::size_t d, const Matrix& psi, const LocalPrecisions& precisions)
      : schedule_(schedule),
        d_(d),
        transitions_(static_cast<double>(psi.rows())),
        network_(train::record_coefficients(settings.score.network, d, nn::Lanes::one())),
        weights_(train::flat_weights(network_.graph, model.network("score").weights, model.source)),
        pool_(network_.graph, nn::Purpose::inference()),
        outputs_(precisions.rows() > 0 ? 2 * d : d),
        precision_sum_(precisions.rows() > 0 ? d : 0, d) {
    const std::size_t terms = psi.cols() + 1;  // the last one stands for b
    Matrix coefficients(outputs_, d * terms);
    for (std::size_t t = 0; t < psi.rows(); ++t) {
      for (std::size_t k = 0; k < terms; ++k) {
        const double value = k + 1 < terms ? psi(t, k) : 1;
        for (std::size_t i = 0; i < d; ++i) coefficients(i, i * terms + k) += value;
        if (precisions.rows() == 0) continue;
        const bool diagonal = precisions.cols() == d;
        for (std::size_t i = 0; i < d; ++i) {
          for (std::size_t j = 0; j < d; ++j) {
            if (diagonal && i != j) continue;
            coefficients(d + i, j * terms + k) += value * precisions(t, diagonal ? i : i * d + j);
          }
        }
      }
    }
    for (std::size_t i = 0; i < precision_sum_.rows(); ++i) {
      for (std::size_t j = 0; j < d; ++j) precision_sum_(i, j) = coefficients(d + i, j * terms + terms - 1);
    }
    coefficients_.assign(coefficients.values().begin(), coefficients.values().end());
  }

  void operator()(ConstMatrixView theta_a, double a, MatrixView sum, MatrixView weighted) const override {
    const Precondition p(schedule_, a);
    const auto workspace = pool_.borrow();
    const std::size_t columns = coefficients_.size() / outputs_;
    LaneBlock result(outputs_, block_lanes);
    for (std::size_t begin = 0; begin < theta_a.rows; begin += block_lanes) {
      const std::size_t lanes = std::min(block_lanes, theta_a.rows - begin);
      fill_variable(workspace->value(network_.variable, lanes), theta_a, begin, p.c_in);
      workspace->value(network_.level, lanes)(0, 0) = static_cast<float>(p.sigma);
      workspace->forward(weights_, lanes);
      Block out = result.view();
      out.lanes = lanes;
      nn::kernels::product({coefficients_.data(), outputs_, columns, columns, 1},
                           workspace->value(network_.phi, lanes), nullptr, out, false);
      for (std::size_t l = 0; l < lanes; ++l) {
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
  diffusion::Schedule schedule_;
  std::size_t d_;
  double transitions_;
  train::CoefficientGraph network_;
  AlignedVector<float> weights_;
  mutable WorkspacePool pool_;
  std::size_t outputs_;               // d, or 2d with precisions
  AlignedVector<float> coefficients_;  // outputs × d (K + 1)
  Matrix precision_sum_;
};

class NetworkScores final : public LocalScores {
 public:
  NetworkScores(const ScoreModel& model, const ObservedSeries& series)
      : model_(model),
        c_(series.c),
        d_(model.model->prior.size()),
        network_(train::record_score(model.settings.score.network, d_, c_.cols(), nn::Lanes::one())),
        weights_(train::flat_weights(network_.graph, model.model->network("score").weights, model.model->source)),
        plain_(network_.graph, nn::Purpose::inference()),
        with_tangents_(network_.graph, {.tangents_of = {network_.variable}}) {}

  std::size_t transitions() const override { return c_.rows(); }
  std::size_t dimension() const override { return d_; }
  bool has_jacobians() const override { return true; }

  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    evaluate(plain_, theta_a, a, begin, end, out, MatrixView());
  }
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    evaluate(with_tangents_, theta_a, a, begin, end, out, jacobians);
  }

  std::unique_ptr<SummedScores> summed(const LocalPrecisions& precisions) const override {
    if (!model_.settings.score.network.separable()) return nullptr;
    return std::make_unique<SeparableSums>(model_.settings, model_.schedule, *model_.model, d_, summaries(),
                                           precisions);
  }

 private:
  /// ψ(c_t), one transition a row.
  Matrix summaries() const {
    const train::SummaryGraph network = train::record_summary(model_.settings.score.network, c_.cols());
    const auto weights =
        train::flat_weights(network.graph, model_.model->network("score").weights, model_.model->source);
    nn::Workspace workspace(network.graph, block_lanes, nn::Purpose::inference());
    Matrix psi(c_.rows(), network.graph.features(network.psi));
    for (std::size_t begin = 0; begin < c_.rows(); begin += block_lanes) {
      const std::size_t lanes = std::min(block_lanes, c_.rows() - begin);
      fill_variable(workspace.value(network.condition, lanes), c_, begin, 1);
      workspace.forward(weights, lanes);
      const Block out = workspace.value(network.psi, lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t k = 0; k < psi.cols(); ++k) psi(begin + l, k) = out(k, l);
      }
    }
    return psi;
  }

  /// s = (m y − θ_a)/v and ∂s/∂θ_a = (m c_in ∂y/∂(c_in θ_a) − I)/v.
  void evaluate(WorkspacePool& pool, ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end,
                MatrixView out, MatrixView jacobians) const {
    const Precondition p(model_.schedule, a);
    const auto workspace = pool.borrow();
    const std::size_t n = theta_a.rows;
    for (std::size_t first = 0; first < n; first += block_lanes) {
      const std::size_t lanes = std::min(block_lanes, n - first);
      for (std::size_t t = begin; t < end; ++t) {
        // Inputs share memory with later values, so they are written anew for every transition.
        fill_variable(workspace->value(network_.variable, lanes), theta_a, first, p.c_in);
        const Block condition = workspace->value(network_.condition, lanes);
        for (std::size_t f = 0; f < condition.features; ++f) {
          std::fill_n(condition.feature(f), lanes, static_cast<float>(c_(t, f)));
        }
        workspace->value(network_.level, lanes)(0, 0) = static_cast<float>(p.sigma);
        workspace->forward(weights_, lanes);
        const Block y = workspace->value(network_.y, lanes);
        const std::size_t row = (t - begin) * n + first;
        for (std::size_t i = 0; i < d_; ++i) {
          for (std::size_t l = 0; l < lanes; ++l) {
            out(row + l, i) = (p.m * y(i, l) - theta_a(first + l, i)) / p.v;
          }
        }
        if (jacobians.rows > 0) add_jacobians(*workspace, lanes, p, row, jacobians);
      }
    }
  }

  void add_jacobians(nn::Workspace& workspace, std::size_t lanes, const Precondition& p, std::size_t row,
                     MatrixView jacobians) const {
    const Block direction = workspace.tangent(network_.variable, lanes);
    for (std::size_t j = 0; j < d_; ++j) {
      for (std::size_t f = 0; f < d_; ++f) std::fill_n(direction.feature(f), lanes, f == j ? 1.0F : 0.0F);
      workspace.tangents(weights_, lanes);
      const Block change = workspace.tangent(network_.y, lanes);
      for (std::size_t i = 0; i < d_; ++i) {
        for (std::size_t l = 0; l < lanes; ++l) {
          jacobians(row + l, i * d_ + j) = (p.m * p.c_in * change(i, l) - (i == j ? 1 : 0)) / p.v;
        }
      }
    }
  }

  ScoreModel model_;
  Matrix c_;
  std::size_t d_;
  train::ScoreGraph network_;
  AlignedVector<float> weights_;
  mutable WorkspacePool plain_, with_tangents_;
};

}  // namespace

ScoreModel::ScoreModel(const train::TrainedModel& trained) : model(&trained) {
  if (trained.method != "fnse") {
    throw InputError(fmt::format("sample: the method of {} is {}, but must be fnse", trained.source, trained.method));
  }
  settings = from_json<train::FnseSettings>(trained.source, trained.settings);
  schedule = diffusion::schedules().at(trained.source, settings.score.schedule).schedule;
}

std::unique_ptr<LocalScores> network_scores(const ScoreModel& model, const ObservedSeries& series) {
  return std::make_unique<NetworkScores>(model, series);
}

LocalPrecisions amortised_precisions(const ScoreModel& model, const ObservedSeries& series) {
  return train::local_gaussian_precisions(model.settings.gaussian_width, model.model->network("gaussian").weights,
                                          model.model->source, model.model->prior.size(), series.c);
}

}  // namespace catena::compose
