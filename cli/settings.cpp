// catena settings: everything that can be chosen and set, walked from the registries; the reference of the
// documentation is made of it.

#include <memory>

#include "catena/compose/rule.h"
#include "catena/diffusion/schedule.h"
#include "catena/evaluate/metric.h"
#include "catena/model/density/density.h"
#include "catena/model/preset.h"
#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/proposal.h"
#include "catena/tasks/task.h"
#include "catena/train/method.h"
#include "common.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

using FlagNames = std::map<std::string, std::string>;  // of fields whose flag is not their name

nlohmann::json described(const std::vector<FieldInfo>& fields, const FlagNames& flag_names = {}) {
  nlohmann::json list = nlohmann::json::array();
  for (const FieldInfo& field : fields) {
    const auto named = flag_names.find(field.name);
    list.push_back({{"name", field.name},
                    {"flag", named == flag_names.end() ? flag_of(field.name) : named->second},
                    {"help", field.help},
                    {"default", field.default_value},
                    {"must_be", field.must_be}});
  }
  return list;
}

/// One entry for each of a registry; `settings_of` gives the fields of one.
template <class Entry, class Settings>
nlohmann::json entries(const Registry<Entry>& registry, const Settings& settings_of, const FlagNames& flag_names = {}) {
  nlohmann::json list = nlohmann::json::array();
  for (const Entry& entry : registry) {
    nlohmann::json one = {{"name", std::string_view(entry.name)},
                          {"settings", described(settings_of(entry), flag_names)}};
    if constexpr (requires { entry.help; }) one["help"] = std::string_view(entry.help);
    list.push_back(std::move(one));
  }
  return list;
}

/// {"title", "verb", "entries"} for each kind of thing, in the order in which data flows.
nlohmann::json all_settings() {
  const auto settings = [](const auto& entry) { return entry.settings; };
  const auto none = [](const auto&) { return std::vector<FieldInfo>(); };
  nlohmann::json groups = nlohmann::json::array();
  const auto add = [&](const char* name, const char* title, const char* verb, nlohmann::json list) {
    groups.push_back({{"name", name}, {"title", title}, {"verb", verb}, {"entries", std::move(list)}});
  };
  add("tasks", "Built-in simulators", "simulate",
      entries(tasks::registry(), [](const tasks::TaskEntry& entry) { return entry.options; }));
  add("proposals", "Proposals", "simulate", entries(simulate::proposals(), settings, proposal_flag_names));
  add("training", "The training loop", "train",
      {{{"name", "every method"},
        {"help", "one loop trains every network"},
        {"settings", described(describe_fields<train::LoopSettings>())}}});
  add("methods", "Methods: training", "train", entries(train::methods(), settings));
  add("densities", "Densities of fnle and fnbe", "train", entries(model::densities(), none));
  add("schedules", "Noise schedules of fnse and fnbe", "train", entries(diffusion::schedules(), none));
  add("sampling", "Methods: sampling", "sample", entries(sample::posterior_samplers(), settings));
  add("rules", "Rules that compose scores", "sample", entries(compose::rules(), none));
  add("samplers", "Samplers of scores", "sample", entries(sample::samplers(), none));
  add("kernels", "Kernels of Markov chains", "sample", entries(sample::kernels(), none));
  nlohmann::json recipes = nlohmann::json::array();
  for (const model::Preset& preset : model::presets()) {
    recipes.push_back({{"name", fmt::format("{} {}", preset.name, preset.method)},
                       {"help", preset.help},
                       {"settings", nlohmann::json::array()},
                       {"train", preset.train},
                       {"sample", preset.sample}});
  }
  add("presets", "Presets", "train, sample", std::move(recipes));
  add("metrics", "Metrics", "evaluate", entries(evaluate::metrics(), none));
  return groups;
}

int run_settings(const Common& common) {
  const nlohmann::json groups = all_settings();
  if (common.json) {
    print_json({{"groups", groups}});
    return success;
  }
  const auto text = [](const nlohmann::json& object, const char* key) { return object.value(key, std::string()); };
  for (const nlohmann::json& group : groups) {
    fmt::print("{} (catena {})\n", text(group, "title"), text(group, "verb"));
    for (const nlohmann::json& entry : group.at("entries")) {
      fmt::print("  {:<18} {}\n", text(entry, "name"), text(entry, "help"));
      for (const char* stage : {"train", "sample"}) {
        if (entry.contains(stage)) fmt::print("    {:<20} {}\n", stage, entry[stage].dump());
      }
      for (const nlohmann::json& field : entry.at("settings")) {
        fmt::print("    {:<20} {} (default {}; {})\n", text(field, "flag"), text(field, "help"), text(field, "default"),
                   text(field, "must_be"));
      }
    }
  }
  return success;
}

Run set_up_settings(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  app.add_flag("--json", common->json, "print one JSON object on standard output and nothing else there");
  return [common] { return run_settings(*common); };
}

}  // namespace

Verb settings_verb() {
  return {"settings", "list everything that can be chosen and set, with defaults", set_up_settings};
}

}  // namespace catena::cli
