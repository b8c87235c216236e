#include "task_flags.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/simulate/plugin.h"
#include "common.h"
#include "isolated.h"

namespace catena::cli {

std::string ChoiceFlags::flag_name(const std::string& field) const {
  const auto found = flag_names_.find(field);
  return found == flag_names_.end() ? flag_of(field) : found->second;
}

void ChoiceFlags::add(std::string_view owner, std::span<const FieldInfo> fields) {
  for (const FieldInfo& field : fields) {
    std::vector<Meaning>& meanings = flags_[field.name].meanings;
    auto same = std::ranges::find(meanings, field.help, &Meaning::help);
    if (same == meanings.end()) same = meanings.insert(same, {field.help, {}});
    same->owners.emplace_back(owner);
  }
}

void ChoiceFlags::declare(CLI::App& app, const std::string& group) {
  for (auto& [name, flag] : flags_) {
    // The list of owners stands for the defaults, which differ; `catena settings` shows them.
    std::vector<std::string> helps;
    for (const Meaning& meaning : flag.meanings) {
      helps.push_back(fmt::format("{} [{}]", meaning.help, fmt::join(meaning.owners, ", ")));
    }
    flag.option = app.add_option(flag_name(name), flag.text, fmt::format("{}", fmt::join(helps, "; ")))
                      ->type_name("VALUE")
                      ->group(group);
  }
}

nlohmann::json ChoiceFlags::values(std::string_view function, std::string_view owner,
                                   std::span<const FieldInfo> fields) const {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [name, flag] : flags_) {
    if (flag.option == nullptr || flag.option->count() == 0) continue;
    if (std::ranges::find(fields, name, &FieldInfo::name) == fields.end()) {
      std::vector<std::string> known;
      for (const FieldInfo& field : fields) known.push_back(flag_name(field.name));
      throw InputError(fmt::format("{}: {} is given, but {} has {}", function, flag_name(name), owner,
                                   known.empty() ? "no such option" : fmt::format("only {}", fmt::join(known, ", "))));
    }
    nlohmann::json value = nlohmann::json::parse(flag.text, nullptr, /*allow_exceptions=*/false);
    values[name] = value.is_discarded() ? nlohmann::json(flag.text) : std::move(value);
  }
  return values;
}

namespace {

void add_plugin(CLI::App& app, TaskFlags& flags, const std::string& instead) {
  app.add_option("--plugin", flags.plugin,
                 fmt::format("a shared library with a simulator (catena_simulator.h), instead of {}", instead))
      ->type_name("FILE");
  app.add_flag("--isolate", flags.isolate,
               "run the plug-in in a child process: a crash or an endless loop is one sentence and exit code 2");
  add_flag(app, flags.batch_seconds, "--batch-seconds", "with --isolate: what one call of the plug-in may take",
           positive());
}

/// The plug-in, if asked for in a child process, which is where this then goes on.
simulate::Model plugin_model(std::string_view function, const TaskFlags& flags) {
  if (!flags.isolate) return simulate::load_plugin(flags.plugin);
  const BatchClock& clock = isolate_plugin(function, flags.plugin, flags.batch_seconds);
  simulate::Model model;
  clock.time([&] { model = simulate::load_plugin(flags.plugin); });
  model.simulator.step = [&clock, step = std::move(model.simulator.step)](const simulate::StepInput& input,
                                                                          Stream& stream, StateBlock next) {
    clock.time([&] { step(input, stream, next); });
  };
  if (model.initial_given_theta) {
    model.initial_given_theta = [&clock, initial = std::move(model.initial_given_theta)](
                                    ConstStateBlock theta, Stream& stream, StateBlock window) {
      clock.time([&] { initial(theta, stream, window); });
    };
  }
  return model;
}

void add_task_options(CLI::App& app, TaskFlags& flags) {
  for (const tasks::TaskEntry& entry : tasks::registry()) flags.options.add(entry.name, entry.options);
  flags.options.declare(app, "Task options");
}

}  // namespace

void add_task_flags(CLI::App& app, TaskFlags& flags, bool with_plugin) {
  app.add_option("TASK", flags.task, "a built-in simulator (see catena tasks)");
  if (with_plugin) add_plugin(app, flags, "TASK");
  add_task_options(app, flags);
}

void add_simulator_flags(CLI::App& app, TaskFlags& flags) {
  app.add_option("--task", flags.task, "the simulator: a built-in one (default: the one that the model was trained on)")
      ->type_name("TASK");
  add_plugin(app, flags, "--task");
  add_task_options(app, flags);
}

tasks::Task chosen_task(std::string_view function, const TaskFlags& flags) {
  if (!flags.plugin.empty()) {
    if (!flags.task.empty()) {
      throw InputError(fmt::format("{}: TASK and --plugin are given, but only one of them can be", function));
    }
    static_cast<void>(flags.options.values(function, "a plug-in", {}));
    tasks::Task task;
    static_cast<simulate::Model&>(task) = plugin_model(function, flags);
    task.name = task.simulator.name;
    task.options = nlohmann::json::object();
    return task;
  }
  if (flags.isolate) throw InputError(fmt::format("{}: --isolate is given, but only --plugin needs it", function));
  if (flags.task.empty()) throw InputError(fmt::format("{}: TASK is missing; catena tasks lists them", function));
  const tasks::TaskEntry& entry = tasks::registry().at(function, flags.task);
  return entry.make(flags.options.values(function, entry.name, entry.options));
}

}  // namespace catena::cli
