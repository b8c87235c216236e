/// What verbs share: flags made from a list of configuration fields, the options that most verbs have, and how results
/// are printed. Every value is checked while the flags are parsed, in the one sentence format of core/check.h.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "catena/core/config.h"
#include "catena/core/outcome.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"

namespace catena::cli {

/// learning_rate → --learning-rate
std::string flag_of(std::string_view field);

/// Whole text → value, strictly. A whole number may be written 1e5 or 2.5e3, if that is what it is.
/// Throws the sentence "FUNCTION: FLAG is TEXT, but must be a whole number between LOW and HIGH".
std::int64_t parse_integer(std::string_view function, std::string_view flag, const std::string& text, std::int64_t low,
                           std::int64_t high);
std::uint64_t parse_unsigned(std::string_view function, std::string_view flag, const std::string& text,
                             std::uint64_t high);
double parse_number(std::string_view function, std::string_view flag, const std::string& text);

/// "catena bench": how sentences about the flags of this verb begin.
std::string full_name(const CLI::App& app);

/// One flag for one value: its default is the value it has now, and `condition` is one of those of core/config.h.
template <class T, class Condition>
CLI::Option* add_flag(CLI::App& app, T& value, const std::string& flag, std::string_view help,
                      const Condition& condition) {
  std::string text(help);
  if constexpr (!std::is_same_v<Condition, anything>) text += fmt::format(" ({})", condition.text());
  if constexpr (std::is_same_v<T, bool>) {
    const std::string plain = flag.substr(2);
    return app.add_flag(fmt::format("{},!--no-{}", flag, plain), value, text)->default_str(value ? "true" : "false");
  } else {
    const auto parse = [&app, &value, flag, condition](const std::string& given) {
      const std::string function = full_name(app);
      T parsed{};
      if constexpr (std::is_floating_point_v<T>) {
        parsed = static_cast<T>(parse_number(function, flag, given));
      } else if constexpr (std::is_unsigned_v<T>) {
        parsed = static_cast<T>(parse_unsigned(function, flag, given, std::numeric_limits<T>::max()));
      } else if constexpr (std::is_integral_v<T>) {
        parsed = static_cast<T>(
            parse_integer(function, flag, given, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      } else {
        parsed = given;
      }
      if (!condition.holds(parsed)) check::fail(function, flag, given, condition.text());
      value = parsed;
    };
    const char* type = std::is_floating_point_v<T> ? "NUMBER" : std::is_integral_v<T> ? "WHOLE" : "TEXT";
    CLI::Option* option = app.add_option_function<std::string>(flag, parse, text)->type_name(type);
    const std::string default_text = fmt::format("{}", value);
    if (!default_text.empty()) option->default_str(default_text);
    return option;
  }
}

/// All fields of a configuration as flags.
template <Config C>
void add_flags(CLI::App& app, C& config) {
  C::fields(config, [&](auto& value, std::string_view name, std::string_view help, const auto& condition) {
    add_flag(app, value, flag_of(name), help_with_uses(help, uses_of(condition)), condition);
  });
}

/// Those fields of it that were given, as JSON.
template <Config C>
nlohmann::json named_flags(const CLI::App& app, const C& config) {
  nlohmann::json named = nlohmann::json::object();
  C::fields(config, [&](const auto& value, std::string_view name, std::string_view, const auto&) {
    if (app.get_option(flag_of(name))->count() > 0) named[std::string(name)] = value;
  });
  return named;
}

/// The options that verbs have in common.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  std::uint64_t seed = 0;
  std::string progress = "auto";

  /// With the ranks that the program was started on (ranks.h).
  Parallel parallel() const;
  /// Whether this process writes files: it is the first rank, or the only one.
  bool writes() const;
  std::unique_ptr<Progress> make_progress() const;
};

enum class Seeded : bool { no, yes };

/// Adds --rank-seconds and --piece-seconds to a verb that works on ranks.
void add_rank_flags(CLI::App& app);

/// Adds --json, --threads, --quiet and --progress, and --seed to a verb that uses randomness.
void add_common(CLI::App& app, Common& common, Seeded seeded);

/// One JSON object on standard output, which must be all that a verb prints there with --json.
void print_json(const nlohmann::json& object);

/// success for ok, not_achieved otherwise; says what can be done about it on standard error.
int exit_code(std::string_view function, Outcome outcome);

}  // namespace catena::cli
