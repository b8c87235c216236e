#include "common.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "catena/core/ranks/ranks.h"
#include "ranks.h"
#include "verb.h"

namespace catena::cli {

namespace {

/// The text as a number, if all of it is one.
template <class Number>
bool parse_all(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

/// 1e5 → 100000: numbers in scientific notation that are whole and exact in a double (below 2⁵³).
bool parse_scientific(const std::string& text, double& value) {
  constexpr double largest_exact = 9007199254740992.0;  // 2⁵³
  return parse_all(text, value) && std::abs(value) < largest_exact && value == std::trunc(value);
}

}  // namespace

std::string flag_of(std::string_view field) {
  std::string flag = fmt::format("--{}", field);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent != nullptr ? fmt::format("{} {}", full_name(*parent), app.get_name()) : app.get_name();
}

std::int64_t parse_integer(std::string_view function, std::string_view flag, const std::string& text, std::int64_t low,
                           std::int64_t high) {
  std::int64_t value = 0;
  double scientific = 0;
  if (!parse_all(text, value)) {
    if (!parse_scientific(text, scientific)) check::fail(function, flag, text, "a whole number");
    value = static_cast<std::int64_t>(scientific);
  }
  if (value < low || value > high) check::fail(function, flag, text, fmt::format("between {} and {}", low, high));
  return value;
}

std::uint64_t parse_unsigned(std::string_view function, std::string_view flag, const std::string& text,
                             std::uint64_t high) {
  std::uint64_t value = 0;
  double scientific = 0;
  if (!parse_all(text, value)) {
    if (!parse_scientific(text, scientific) || scientific < 0) {
      check::fail(function, flag, text, fmt::format("a whole number between 0 and {}", high));
    }
    value = static_cast<std::uint64_t>(scientific);
  }
  if (value > high) check::fail(function, flag, text, fmt::format("a whole number between 0 and {}", high));
  return value;
}

double parse_number(std::string_view function, std::string_view flag, const std::string& text) {
  double value = 0;
  if (!parse_all(text, value)) check::fail(function, flag, text, "a number");
  return value;
}

void add_common(CLI::App& app, Common& common, Seeded seeded) {
  app.add_flag("--json", common.json, "print one JSON object on standard output and nothing else there");
  if (seeded == Seeded::yes) {
    add_flag(app, common.seed, "--seed", "the same seed gives the same bits, whatever the number of threads",
             anything());
  }
  add_flag(app, common.threads, "--threads",
           "threads to work with, of each rank; 0 = as many as SLURM_CPUS_PER_TASK says or this process may use",
           between(0, 1024));
  app.add_flag("--quiet,-q", common.quiet, "no progress and no remarks, only results and errors");
  add_flag(app, common.progress, "--progress", "how progress is shown", one_of({"auto", "bar", "lines", "none"}));
}

Parallel Common::parallel() const { return Parallel(threads, program_ranks()); }

bool Common::writes() const { return program_ranks()->first(); }

void add_rank_flags(CLI::App& app) {
  RankLimits& limits = rank_limits();
  add_flag(app, limits.silence, "--rank-seconds", "on several ranks: one that is not heard of for so long ends the run",
           positive())
      ->group("Ranks");
  add_flag(app, limits.piece, "--piece-seconds",
           "on several ranks: one that is at one piece of work for so long hangs, and ends the run; 0: no limit",
           not_negative())
      ->group("Ranks");
}

std::unique_ptr<Progress> Common::make_progress() const {
  if (!writes()) return catena::make_progress(ProgressStyle::silent);
  if (quiet || progress == "none") return catena::make_progress(ProgressStyle::silent);
  if (progress == "bar") return catena::make_progress(ProgressStyle::bar);
  if (progress == "lines") return catena::make_progress(ProgressStyle::lines);
  return catena::make_progress(ProgressStyle::automatic);
}

void print_json(const nlohmann::json& object) {
  const std::string text = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int exit_code(std::string_view function, Outcome outcome) {
  if (outcome == Outcome::ok) return success;
  fmt::print(stderr, "{}: {}: {}\n", function, name(outcome), advice(outcome, function));
  return not_achieved;
}

}  // namespace catena::cli
