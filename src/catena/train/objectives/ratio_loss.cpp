#include "catena/train/objectives/ratio_loss.h"

#include <cmath>

#include "catena/nn/layers.h"

namespace catena::train {
namespace {

/// More than any block has: one group is the block.
constexpr double whole_block = 1 << 20;
constexpr double least_pairs = 1e-3;  // δ

struct Ratios {
  nn::Value own, others;
  double count;  // of the others
};

Ratios real_and_noise(nn::Graph& graph, nn::Value ratios) {
  const std::size_t s = graph.features(ratios);
  return {nn::slice(graph, ratios, 0, 1), nn::slice(graph, ratios, 1, s), static_cast<double>(s - 1)};
}

nn::Value constant(nn::Graph& graph, double value, nn::Value like) {
  return nn::scale(graph, value, nn::ones(graph, like));
}

nn::Value record_bce(nn::Graph& graph, const RatioLossSettings&, nn::Value ratios, nn::Value) {
  const Ratios r = real_and_noise(graph, ratios);
  const nn::Value negatives = nn::sum_features(graph, graph.apply("softplus", {r.others}));
  return nn::add(graph, graph.apply("softplus", {nn::scale(graph, -1, r.own)}),
                 nn::scale(graph, 1 / r.count, negatives));
}

nn::Value record_contrastive(nn::Graph& graph, const RatioLossSettings&, nn::Value ratios, nn::Value) {
  const nn::Value own = nn::slice(graph, ratios, 0, 1);
  const nn::Value all = graph.apply("logsumexp_features", {ratios});
  const double log_count = std::log(static_cast<double>(graph.features(ratios)));
  return nn::subtract(graph, nn::subtract(graph, all, own), constant(graph, log_count, own));
}

/// log((K + γ Σ e^r)/K) = softplus(log Σ e^r + log(γ/K)) of K ratios
nn::Value record_nre_c(nn::Graph& graph, const RatioLossSettings& settings, nn::Value ratios, nn::Value) {
  const std::size_t k = graph.features(ratios) / 2;
  const double log_odds = std::log(settings.gamma / static_cast<double>(k));
  const auto log_sum = [&](std::size_t begin) {
    const nn::Value sum = graph.apply("logsumexp_features", {nn::slice(graph, ratios, begin, begin + k)});
    return graph.apply("softplus", {nn::add(graph, sum, constant(graph, log_odds, sum))});
  };
  const nn::Value own = nn::slice(graph, ratios, 0, 1);
  const nn::Value logit = nn::add(graph, own, constant(graph, log_odds, own));
  const double dependent = settings.gamma / (1 + settings.gamma);
  return nn::add(graph, nn::scale(graph, dependent, nn::subtract(graph, log_sum(0), logit)),
                 nn::scale(graph, 1 - dependent, log_sum(k)));
}

nn::Value record_balanced(nn::Graph& graph, const RatioLossSettings& settings, nn::Value ratios, nn::Value) {
  const Ratios r = real_and_noise(graph, ratios);
  const nn::Value negatives = nn::sum_features(graph, graph.apply("sigmoid", {r.others}));
  const nn::Value both = nn::add(graph, graph.apply("sigmoid", {r.own}), nn::scale(graph, 1 / r.count, negatives));
  const nn::Value off = nn::repeat(graph, nn::subtract(graph, both, constant(graph, 1, both)));
  // The square of an estimated mean is too large by its variance; ((Σ x)² − Σ x²)/(n (n − 1)) is not. One lane alone
  // says nothing: 0/δ.
  const auto block_sum = [&](nn::Value x) { return graph.apply("sum_groups", {x}, {}, {{"group", whole_block}}); };
  const nn::Value sum = block_sum(off), n = block_sum(constant(graph, 1, off));
  const nn::Value products =
      nn::subtract(graph, nn::multiply(graph, sum, sum), block_sum(nn::multiply(graph, off, off)));
  const nn::Value pairs =
      nn::add(graph, nn::subtract(graph, nn::multiply(graph, n, n), n), constant(graph, least_pairs, n));
  const nn::Value inverse = graph.apply("exp", {nn::scale(graph, -1, graph.apply("log", {pairs}))});
  const nn::Value square = nn::scale(graph, settings.balance, nn::multiply(graph, products, inverse));
  const nn::Value bce = nn::repeat(graph, record_bce(graph, settings, ratios, {}));
  return nn::add(graph, bce, nn::repeat(graph, square));
}

/// real · softplus(log S − r_0) + (1 − real) · Σ_s softplus(r_s − log S)
nn::Value record_nce(nn::Graph& graph, const RatioLossSettings&, nn::Value ratios, nn::Value real) {
  const double log_count = std::log(static_cast<double>(graph.features(ratios)));
  const nn::Value logits = nn::subtract(graph, ratios, constant(graph, log_count, ratios));
  const nn::Value own = nn::slice(graph, logits, 0, 1);
  const nn::Value positive = graph.apply("softplus", {nn::scale(graph, -1, own)});
  const nn::Value negative = nn::sum_features(graph, graph.apply("softplus", {logits}));
  return nn::add(graph, negative, nn::multiply(graph, real, nn::subtract(graph, positive, negative)));
}

nn::Value record_nce_contrastive(nn::Graph& graph, const RatioLossSettings& settings, nn::Value ratios,
                                 nn::Value real) {
  return nn::add(graph, record_nce(graph, settings, ratios, real),
                 nn::multiply(graph, real, record_contrastive(graph, settings, ratios, real)));
}

}  // namespace

const Registry<RatioLoss>& ratio_losses() {
  static const Registry<RatioLoss> registry(
      "loss", {{"bce", "binary cross-entropy (NRE-A)", false, true, record_bce},
               {"contrastive", "which parameters made the transition (NRE-B)", false, false, record_contrastive},
               {"nre_c", "the same with the class none of them (NRE-C)", false, true, record_nre_c},
               {"balanced", "binary cross-entropy with the balance condition (BNRE)", false, true, record_balanced},
               {"nce", "against noise in place of increments", true, false, record_nce},
               {"nce_contrastive", "the sum of nce and contrastive", true, false, record_nce_contrastive}});
  return registry;
}

std::vector<std::string> ratio_loss_choices() {
  std::vector<std::string> names = ratio_losses().names();
  names.insert(names.begin(), "auto");
  return names;
}

}  // namespace catena::train
