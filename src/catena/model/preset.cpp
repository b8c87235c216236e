#include "catena/model/preset.h"

#include <fmt/format.h>

#include <algorithm>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/model/score/network.h"

namespace catena::model {
namespace {

/// How sbi trains: at most so many epochs, the held-out loss after each, and the end after 20 without a better one. Its
/// Adam has no decay of weights: 1e-9 is none, where 0 would search for the best.
constexpr int sbi_epochs = 500;
constexpr double sbi_patience = 20.0 / sbi_epochs;

nlohmann::json trained_by_sbi(nlohmann::json network) {
  network.update({{"batch_size", 1000},
                  {"learning_rate", 1e-3},
                  {"epochs", sbi_epochs},
                  {"evaluations", sbi_epochs},
                  {"patience", sbi_patience},
                  {"decay", 1e-9},
                  {"clip_norm", 5.0},
                  {"average_decay", 0.0}});
  return network;
}

/// Epochs are counted in series; with the shortened copies of series of 10, of which there are nine tenths as many,
/// twice as many epochs are as many steps.
nlohmann::json trained_on_series(nlohmann::json network) {
  nlohmann::json all = trained_by_sbi(std::move(network));
  all.update({{"shortened", 0.1}, {"summaries", 50}, {"epochs", 2 * sbi_epochs}});
  return all;
}

nlohmann::json spline_flow(nlohmann::json network) {
  network.update({{"flow_layers", 5}, {"flow_width", 50}, {"bins", 10}, {"tail_bound", 3.0}});
  return trained_on_series(std::move(network));
}

/// Summaries that are trained first (chen2021, chen2023), as the authors' code has it.
nlohmann::json with_summaries(nlohmann::json trained) {
  trained.update({{"embedding", "gru"}, {"summary_epochs", 100}, {"summary_batch", 400}, {"summary_rate", 1e-3}});
  return trained;
}

nlohmann::json slice_chains() { return {{"kernel", "slice"}, {"chains", 100}}; }

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> list{
      {"paper",
       "fnse",
       "joint network, 5 layers of 50; denoising score matching with its control variate; 5,000 epochs; gauss with "
       "sampled precisions, Euler–Maruyama with 500 steps down to a = 0.01",
       {{"network", "joint"},
        {"prior_share", papers_prior_share},
        {"width", 50},
        {"layers", 5},
        {"schedule", "variance_preserving"},
        {"levels", "uniform"},
        {"weight", "sigma"},
        {"pairing", "control_variate"},
        {"ensemble", 1},
        {"whiten", false},
        {"centre", false},
        {"period", "none"},
        {"batch_size", 1000},
        {"learning_rate", 5e-4},
        {"decay", 1e-4},
        {"epochs", 5000},
        {"evaluations", 100},
        {"patience", 1.0},
        {"clip_norm", 1e9},  // none
        {"average_decay", 0.0}},
       {{"rule", "gauss"},
        {"precisions", "sampled"},
        {"nugget", 0.1},
        {"sampler", "euler_maruyama"},
        {"steps", 500},
        {"end_width", 1e-9},  // smallest_a alone says where to end
        {"smallest_a", 0.01},
        {"denoise", false},
        {"largest_z", 1e9}},  // no cut
       1000},
      {"paper", "fnle", "masked autoregressive flow of 5 layers, 2 × 50 units; slice sampling by 100 chains",
       trained_by_sbi({{"density", "maf"},
                       {"flow_layers", 5},
                       {"flow_width", 50},
                       {"logarithms", "none"},
                       {"point_masses", "none"},
                       {"integers", "none"},
                       {"log_increments", "none"},
                       {"period", "none"}}),
       slice_chains()},
      {"paper", "fnre", "residual classifier, 2 blocks of 50, contrastive loss; slice sampling by 100 chains",
       trained_by_sbi({{"network", "joint"},
                       {"width", 50},
                       {"layers", 2},
                       {"loss", "contrastive"},
                       {"atoms", 8},
                       {"logarithms", "none"},
                       {"whiten", false},
                       {"ensemble", 1},
                       {"period", "none"}}),
       slice_chains()},
      {"paper", "npe", "spline flow of 5 transformations on a recurrent unit of 50, series of 10 and shortened copies",
       spline_flow({{"embedding", "gru"}}), nlohmann::json::object()},
      {"paper", "npe_windows", "the same flow on a sum over transitions of 2 × 64 units and 100 features",
       spline_flow({{"window_width", 64}, {"window_features", 100}, {"head_width", 100}}), nlohmann::json::object()},
      {"paper", "npe_summary", "the same flow on 50 summaries that are trained first, for 100 epochs of batches of 400",
       with_summaries(spline_flow({{"units", 0}})), nlohmann::json::object()},
      {"paper", "nle_summary",
       "masked autoregressive flow of max(2d, 5) summaries that are trained first; slice sampling by 100 chains",
       [] {
         nlohmann::json all =
             with_summaries(trained_on_series({{"units", 50}, {"flow_layers", 5}, {"flow_width", 50}}));
         all["summaries"] = 0;
         return all;
       }(),
       slice_chains()},
      {"paper",
       "nse",
       "score of 3 layers of 50 on a recurrent unit of 50; patience of 200 epochs; Euler–Maruyama with 500 steps",
       [] {
         nlohmann::json all = trained_on_series({{"embedding", "gru"},
                                                 {"width", 50},
                                                 {"layers", 3},
                                                 {"schedule", "variance_preserving"},
                                                 {"levels", "uniform"},
                                                 {"weight", "sigma"}});
         all["patience"] = 10 * sbi_patience;
         return all;
       }(),
       {{"sampler", "euler_maruyama"},
        {"steps", 500},
        {"end_width", 1e-9},  // smallest_a alone says where to end
        {"smallest_a", 0.01},
        {"denoise", false},
        {"largest_z", 1e9}}},  // no cut
  };
  return list;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (std::ranges::find(names, preset.name) == names.end()) names.emplace_back(preset.name);
  }
  return names;
}

FieldInfo preset_field() {
  return {"preset", "the recipe of somebody else, over which named settings win (docs/paper.md)", "",
          one_of(preset_names()).text()};
}

PresetSettings with_preset(std::string_view function, std::string_view method, std::string_view stage,
                           nlohmann::json named) {
  if (!named.is_object() || !named.contains("preset")) return {"", std::move(named)};
  const nlohmann::json given = named["preset"];
  named.erase("preset");
  const std::string name = given.is_string() ? given.get<std::string>() : "";
  if (name.empty() && given.is_string()) return {"", std::move(named)};
  const std::vector<std::string> names = preset_names();
  check::that(std::ranges::find(names, name) != names.end(), function, "preset", detail::json_text(given),
              one_of(names).text());
  std::vector<std::string_view> methods;
  for (const Preset& preset : presets()) {
    if (preset.name != name) continue;
    methods.push_back(preset.method);
    if (preset.method != method) continue;
    nlohmann::json all = stage == "train" ? preset.train : preset.sample;
    if (named.contains("steps")) all.erase("epochs");
    all.update(named);
    return {name, std::move(all), preset.held_out};
  }
  throw InputError(fmt::format("{}: preset is {}, but {} is no method of it ({} are)", function, name, method,
                               fmt::join(methods, ", ")));
}

}  // namespace catena::model
