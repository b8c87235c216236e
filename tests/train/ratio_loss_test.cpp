// The losses of ratio estimation against the same formulas in complex doubles, values and gradients.
#include "catena/train/objectives/ratio_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "catena/nn/execute.h"
#include "catena/nn/layers.h"

namespace catena::train::ratio_loss_test {
namespace {

using Z = std::complex<double>;
using Ratios = std::vector<std::vector<Z>>;  // [s][transition]

Z softplus(Z x) { return std::log(1.0 + std::exp(x)); }
Z sigmoid(Z x) { return 1.0 / (1.0 + std::exp(-x)); }

std::vector<Z> bce(const Ratios& r) {
  std::vector<Z> loss(r[0].size());
  for (std::size_t l = 0; l < loss.size(); ++l) {
    loss[l] = softplus(-r[0][l]);
    for (std::size_t s = 1; s < r.size(); ++s) loss[l] += softplus(r[s][l]) / static_cast<double>(r.size() - 1);
  }
  return loss;
}

/// Every other transition is noise, for the losses that have it.
bool is_real(std::size_t l) { return l % 2 == 0; }

std::vector<Z> twin(const RatioLossSettings& settings, const Ratios& r, std::size_t group) {
  const std::size_t lanes = r[0].size();
  if (settings.loss.starts_with("nce")) {
    std::vector<Z> loss(lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      Z sum = 0;
      for (const auto& row : r) sum += std::exp(row[l]);
      const double log_count = std::log(static_cast<double>(r.size()));
      if (is_real(l)) loss[l] = softplus(log_count - r[0][l]);
      if (is_real(l) && settings.loss == "nce_contrastive") {
        loss[l] += std::log(sum / static_cast<double>(r.size())) - r[0][l];
      }
      for (const auto& row : r) loss[l] += is_real(l) ? 0.0 : softplus(row[l] - log_count);
    }
    return loss;
  }
  std::vector<Z> loss = bce(r);
  if (settings.loss == "bce") return loss;
  if (settings.loss == "balanced") {
    std::vector<Z> off(lanes, -1.0);
    for (std::size_t l = 0; l < lanes; ++l) {
      off[l] += sigmoid(r[0][l]);
      for (std::size_t s = 1; s < r.size(); ++s) off[l] += sigmoid(r[s][l]) / static_cast<double>(r.size() - 1);
    }
    // All pairs of different lanes; the lanes of a group are copies of each other and count one by one.
    const double n = static_cast<double>(lanes * group);
    Z products = 0;
    for (std::size_t i = 0; i < lanes * group; ++i) {
      for (std::size_t j = 0; j < lanes * group; ++j) products += i == j ? 0.0 : off[i / group] * off[j / group];
    }
    for (Z& value : loss) value += settings.balance * products / (n * (n - 1) + 1e-3);
    return loss;
  }
  const auto sum = [&](std::size_t l, std::size_t begin, std::size_t end) {
    Z total = 0;
    for (std::size_t s = begin; s < end; ++s) total += std::exp(r[s][l]);
    return total;
  };
  for (std::size_t l = 0; l < lanes; ++l) {
    if (settings.loss == "contrastive") {
      loss[l] = -r[0][l] + std::log(sum(l, 0, r.size()) / static_cast<double>(r.size()));
    } else {
      const std::size_t k = r.size() / 2;
      const double gamma = settings.gamma, share = gamma / (1 + gamma), number = static_cast<double>(k);
      loss[l] = -share * std::log(gamma * std::exp(r[0][l]) / (number + gamma * sum(l, 0, k))) -
                (1 - share) * std::log(number / (number + gamma * sum(l, k, 2 * k)));
    }
  }
  return loss;
}

/// On lanes of their own (separable networks) and on groups of lanes (joint ones).
void check(const RatioLossSettings& settings, std::size_t group) {
  constexpr std::size_t atoms = 6, transitions = 11;
  const std::size_t lanes = transitions * group;
  nn::Graph graph;
  const nn::Value ratios = graph.input("ratios", atoms, nn::Lanes::grouped(group));
  const nn::Value real = graph.input("real", 1, nn::Lanes::grouped(group));
  const RatioLoss& entry = ratio_losses().at("test", settings.loss);
  const nn::Value loss = nn::repeat(graph, entry.record(graph, settings, ratios, real));
  nn::Workspace workspace(graph, 128, {.keep_values = true, .input_gradients = {ratios}});
  Ratios r(atoms, std::vector<Z>(transitions));
  Stream stream = Streams(4).stream("ratios");
  const Block in = workspace.value(ratios, lanes);
  for (std::size_t s = 0; s < atoms; ++s) {
    for (std::size_t l = 0; l < transitions; ++l) {
      in(s, l) = static_cast<float>(2 * stream.normal());
      r[s][l] = in(s, l);
    }
  }
  for (std::size_t l = 0; l < transitions; ++l) workspace.value(real, lanes)(0, l) = is_real(l) ? 1.0F : 0.0F;
  workspace.forward({}, lanes);
  std::vector<Z> expected = twin(settings, r, group);
  const Block found = workspace.value(loss, lanes);
  // Sums of some ten numbers of order one in floats: 100 ε.
  for (std::size_t l = 0; l < lanes; ++l) {
    EXPECT_NEAR(found(0, l), expected[l / group].real(), 1.2e-5 * std::max(1.0, std::abs(expected[l / group])));
  }
  std::fill_n(workspace.gradient(loss, lanes).data, lanes, 1.0F);
  workspace.reverse({}, lanes, loss, {});
  const Block slope = workspace.gradient(ratios, lanes);
  for (std::size_t s = 0; s < atoms; ++s) {
    for (std::size_t l = 0; l < transitions; ++l) {
      Ratios moved = r;
      moved[s][l] += Z(0, 1e-30);
      double exact = 0;
      for (const Z value : twin(settings, moved, group)) exact += static_cast<double>(group) * value.imag() / 1e-30;
      // The balance condition multiplies errors of σ by 2 λ.
      EXPECT_NEAR(slope(s, l), exact, 1e-4 * std::max(1.0, std::abs(exact))) << s << ", " << l;
    }
  }
}

TEST(EveryRatioLoss, IsItsFormulaWithItsGradient) {
  for (const RatioLoss& entry : ratio_losses()) {
    SCOPED_TRACE(entry.name);
    RatioLossSettings settings;
    settings.loss = entry.name;
    settings.gamma = 1.7;
    check(settings, 1);
    check(settings, 8);
  }
}

}  // namespace
}  // namespace catena::train::ratio_loss_test
