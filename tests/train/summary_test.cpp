#include "catena/train/objectives/summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "catena/model/embedding/summaries.h"
#include "catena/train/objectives/posterior.h"
#include "train_cases.h"

namespace catena::train::summary_test {

/// R² of rows in double precision, by the definition: distances centred on both sides.
double slow_correlation(const Matrix& x, const Matrix& y) {
  const std::size_t n = x.rows();
  const auto centred = [n](const Matrix& rows) {
    Matrix a(n, n);
    std::vector<double> means(n, 0.0);
    double all = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double squares = 0;
        for (std::size_t f = 0; f < rows.cols(); ++f) squares += std::pow(rows(i, f) - rows(j, f), 2);
        a(i, j) = std::sqrt(squares);
        means[i] += a(i, j) / static_cast<double>(n);
      }
      all += means[i] / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a(i, j) += all - means[i] - means[j];
    }
    return a;
  };
  const Matrix a = centred(x), b = centred(y);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    ab += a.values()[k] * b.values()[k];
    aa += a.values()[k] * a.values()[k];
    bb += b.values()[k] * b.values()[k];
  }
  return ab / std::sqrt(aa * bb);
}

/// A batch of all training series, as the loop feeds it.
struct Fed {
  Fed(const SummaryObjective& objective, const TrainingData& data, std::size_t count, std::uint64_t seed)
      : weights(objective.graph().initial_weights(Streams(seed))),
        workspace(objective.graph(), count, nn::Purpose::training()) {
    for (std::size_t i = 0; i < count; ++i) order.push_back(i);
    objective.fill(workspace, {data.window(0), order, 0, count}, Streams(seed).stream("noise"));
    workspace.forward(weights, count);
  }
  std::vector<std::size_t> order;
  AlignedVector<float> weights;
  nn::Workspace workspace;
};

Matrix rows_of(nn::Workspace& workspace, nn::Value value, std::size_t lanes) {
  const ConstBlock block = workspace.value(value, lanes);
  Matrix rows(lanes, block.features);
  for (std::size_t l = 0; l < lanes; ++l) {
    for (std::size_t f = 0; f < block.features; ++f) rows(l, f) = block(f, l);
  }
  return rows;
}

nn::Value input_named(const nn::Graph& graph, std::string_view name) {
  for (const int node : graph.inputs()) {
    if (graph.nodes()[static_cast<std::size_t>(node)].name == name) return {node};
  }
  return {};
}

/// The inputs of the recorded loss −R²: what is compared.
std::pair<nn::Value, nn::Value> compared(const nn::Graph& graph) {
  for (const nn::Node& node : graph.nodes()) {
    if (node.operation != nullptr && node.operation->name == "distance_correlation") {
      return {{node.inputs[0]}, {node.inputs[1]}};
    }
  }
  return {};
}

class EverySummary : public ::testing::TestWithParam<const char*> {
 protected:
  EverySummary() : data(series_of("gaussian_rw", 4, 240, {{"dim", 3}}), {}) {
    settings.summary = GetParam();
    embedding.summaries = 6;
  }
  TrainingData data;
  SummarySettings settings;
  model::EmbeddingSettings embedding;
};
INSTANTIATE_TEST_SUITE_P(Kinds, EverySummary, ::testing::Values("infomax", "sliced"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(EverySummary, HasTheLossOfItsSlowTwin) {
  const SummaryObjective objective(settings, embedding, data);
  constexpr std::size_t count = 50;
  Fed fed(objective, data, count, 5);
  const auto [seen, target] = compared(objective.graph());
  const Matrix targets = rows_of(fed.workspace, target, count);
  const double expected = slow_correlation(rows_of(fed.workspace, seen, count), targets);
  EXPECT_GT(expected, 0.01);
  for (std::size_t l = 0; l < count; ++l) {  // sums of 2,500 distances in doubles, each to single precision
    EXPECT_NEAR(fed.workspace.value(objective.loss(), count)(0, l), -expected, 1e-5);
  }
  if (settings.summary == "infomax") {
    EXPECT_EQ(objective.graph().features(seen), 6U);
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t f = 0; f < 3; ++f) EXPECT_EQ(targets(l, f), data.window(0).z_of(l)[f]);
    }
    return;
  }
  EXPECT_EQ(objective.graph().features(seen), 2U);
  const Matrix phi = rows_of(fed.workspace, input_named(objective.graph(), "direction"), count);
  for (std::size_t l = 0; l < count; ++l) {
    double length = 0, along = 0;
    for (std::size_t f = 0; f < 3; ++f) {
      length += phi(l, f) * phi(l, f);
      along += phi(l, f) * data.window(0).z_of(l)[f];
    }
    EXPECT_NEAR(length, 1, 1e-6);
    EXPECT_NEAR(targets(l, 0), along, 1e-6);
    EXPECT_NE(phi(l, 0), phi((l + 1) % count, 0));
  }
}

TEST_P(EverySummary, HasTheGradientOfDifferences) {
  const SummaryObjective objective(settings, embedding, data);
  constexpr std::size_t count = 50;
  Fed fed(objective, data, count, 6);
  AlignedVector<float> gradient(fed.weights.size());
  const Block seeds = fed.workspace.gradient(objective.loss(), count);
  std::fill_n(seeds.data, count, 1.0F / count);
  fed.workspace.reverse(fed.weights, count, objective.loss(), gradient);
  // Along the gradient itself L changes by ‖g‖ for a unit of length: by 0.002 between the two steps of h = 0.001/‖g‖,
  // which rounding (some 1e-7) changes by a few 1e-4 of it, and curvature and the kinks of ReLU by some 1e-3. A wrong
  // term is of order one.
  double squares = 0;
  for (const float g : gradient) squares += static_cast<double>(g) * g;
  const double length = std::sqrt(squares), step = 0.001 / length;
  ASSERT_GT(length, 1e-3);
  const auto loss_at = [&](double h) {
    AlignedVector<float> moved = fed.weights;
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += static_cast<float>(h * gradient[k] / length);
    fed.workspace.forward(moved, count);
    return static_cast<double>(fed.workspace.value(objective.loss(), count)(0, 0));
  };
  const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
  EXPECT_NEAR(slope, length, 0.01 * length);
}

/// x' = 0.9 x + θ + ε in three coordinates: what a series of T transitions says of θ is Σ_t (x^(t+1) − 0.9 x^t)/(T +
/// 1), the mean of the exact posterior. Features are standardised, so that c_t = (x^t, x^(t+1) − x^t) has to be undone.
Matrix exact_means(const TrainingData& data, std::size_t begin, std::size_t end) {
  const Examples& examples = data.window(0);
  Matrix means(end - begin, 3);
  for (std::size_t r = begin; r < end; ++r) {
    const std::size_t transitions = examples.transitions_of(r);
    for (std::size_t f = 0; f < 3; ++f) {
      const model::Feature &x = data.features().all()[f], &step = data.features().all()[3 + f];
      for (std::size_t t = 0; t < transitions; ++t) {
        const float* c = examples.c_of(r) + t * examples.features;
        means(r - begin, f) += (0.1 * (x.mean + x.scale * c[f]) + step.mean + step.scale * c[3 + f]) /
                               static_cast<double>(transitions + 1);
      }
    }
  }
  return means;
}

TEST_P(EverySummary, KnowsOfSeriesThatItHasNotSeenWhatThereIsToKnow) {
  const simulate::SeriesSet set = series_of("gaussian_rw", 4, 8000, {{"dim", 3}});
  for (const std::string method : {"npe_summary", "nle_summary"}) {
    const nlohmann::json chosen = {
        {"summary", GetParam()}, {"decay", 0.1}, {"summary_epochs", 60}, {"flow_width", 8}, {"flow_layers", 1}};
    const model::TrainedModel model = train_briefly(method, set, chosen, 20, 200);
    const std::size_t count = model.settings["summaries"].get<std::size_t>();
    EXPECT_EQ(count, method == "npe_summary" ? 50U : 6U);  // a density of summaries has two for each parameter
    for (const files::Tensor& each : model.network("summaries").weights) {
      EXPECT_FALSE(each.name.starts_with("slice")) << each.name;
    }

    TrainingData all(set, {});
    all.add_shortened(0.1, Streams(1).child("shortened"));
    const Examples& examples = all.window(0);
    const auto sizes = from_json_part<model::PosteriorModelSettings>("test", model.settings).embedding;
    Matrix summaries(all.size(), count);
    for (std::size_t r = 0; r < all.size(); ++r) {
      Matrix c(examples.transitions_of(r), examples.features);
      std::copy_n(examples.c_of(r), c.values().size(), c.values().begin());
      std::ranges::copy(model::summaries_of(model, "none", sizes, all.longest(), c), summaries.row(r).begin());
    }
    const std::size_t first = all.first_held_out(0), rows = all.held_out_size();
    const auto n = static_cast<double>(first);
    for (std::size_t f = 0; f < count; ++f) {  // standardised over the training part
      double sum = 0, squares = 0;
      for (std::size_t r = 0; r < first; ++r) {
        sum += summaries(r, f);
        squares += summaries(r, f) * summaries(r, f);
      }
      EXPECT_NEAR(sum / n, 0, 1e-3) << method;
      EXPECT_NEAR(squares / n, 1, 1e-3) << method;
    }
    // The same of the exact means: along a direction for each series where the summaries were sliced.
    const Matrix means = exact_means(all, first, all.size());
    const bool sliced = std::string(GetParam()) == "sliced";
    Matrix mean(rows, sliced ? 1 : 3), z = mean, phi(rows, 3);
    Streams(9).stream("directions").fill_normal(phi.values());
    for (std::size_t r = 0; r < rows; ++r) {
      const double length =
          std::sqrt(std::inner_product(phi.row(r).begin(), phi.row(r).end(), phi.row(r).begin(), 0.0));
      for (std::size_t f = 0; f < 3; ++f) {
        mean(r, sliced ? 0 : f) += means(r, f) * (sliced ? phi(r, f) / length : 1);
        z(r, sliced ? 0 : f) += examples.z_of(first + r)[f] * (sliced ? phi(r, f) / length : 1);
      }
    }
    const double known = -model.network("summaries").held_out_loss, knowable = slow_correlation(mean, z);
    RecordProperty(method, fmt::format("{:.3f} of {:.3f}", known, knowable));
    EXPECT_GT(known, 0.8 * knowable) << method;
  }
}

}  // namespace catena::train::summary_test
