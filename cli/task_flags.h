/// TASK and its options on the command line: every option that some task has is a flag; those that the chosen task does
/// not have are refused. Used by simulate, observe and whoever else needs a task.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::cli {

/// Flags for the fields of several configurations, of which one is chosen later. Kept as text until then.
class ChoiceFlags {
 public:
  ChoiceFlags() = default;
  /// With other flags than their names for some fields, which the verb has flags of its own for.
  explicit ChoiceFlags(std::map<std::string, std::string> flag_names) : flag_names_(std::move(flag_names)) {}
  /// Adds a flag per field name; `owner` is the task or proposal that has these fields.
  void add(std::string_view owner, std::span<const FieldInfo> fields);
  void declare(CLI::App& app, const std::string& group);
  /// The given ones as JSON; refuses those that `fields` lacks.
  nlohmann::json values(std::string_view function, std::string_view owner, std::span<const FieldInfo> fields) const;

 private:
  /// What a flag is for; owners of the same name may mean different things by it.
  struct Meaning {
    std::string help;
    std::vector<std::string> owners;
  };
  struct Flag {
    std::vector<Meaning> meanings;
    std::string text;
    CLI::Option* option = nullptr;
  };
  std::string flag_name(const std::string& field) const;

  std::map<std::string, Flag> flags_;              // by field name
  std::map<std::string, std::string> flag_names_;  // of fields whose flag is not their name
};

/// The flags of proposals that are not called as their field: --series is that of catena simulate itself.
inline const std::map<std::string, std::string> proposal_flag_names{{"series", "--pool-series"}};

struct TaskFlags {
  std::string task;
  std::string plugin;
  bool isolate = false;       // the plug-in runs in a child process (isolated.h)
  double batch_seconds = 60;  // that one call of it may take then
  ChoiceFlags options;
};

/// Adds TASK and the options of all tasks, and --plugin if wanted.
void add_task_flags(CLI::App& app, TaskFlags& flags, bool with_plugin);

/// The same where models are what a verb is given first: --task and --plugin.
void add_simulator_flags(CLI::App& app, TaskFlags& flags);

/// The task that the flags name, or the plug-in as a task of its simulator's name without options.
tasks::Task chosen_task(std::string_view function, const TaskFlags& flags);

}  // namespace catena::cli
