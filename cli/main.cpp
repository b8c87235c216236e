// The program: finds the verb, parses its flags, runs it, and turns whatever happened into an exit code and at most one
// sentence on standard error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "catena/core/check.h"
#include "catena/core/progress.h"
#include "catena/core/version.h"
#include "catena/files/atomic.h"
#include "common.h"
#include "ranks.h"
#include "verb.h"

namespace catena::cli {

namespace {

/// A verb was asked to stop; what is to be said of it.
struct EndedBySignal {
  std::string sentence;
};

/// What ranks compare before they begin: this version with these arguments.
std::string identity_of(int argc, char** argv) {
  std::string identity(version());
  for (int i = 1; i < argc; ++i) identity += fmt::format("\n{}", argv[i]);
  return identity;
}

/// CLI11's own complaint, as the sentence that we print: one line, no capital, with the verb in front.
std::string sentence(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  const auto used = app.get_subcommands();
  const std::string name = full_name(used.empty() ? app : *used.front());
  return fmt::format("{}: {}; see {} --help", name, text, name);
}

/// Field names of a sentence as the flags that the user types: cut_gaps → --cut-gaps. Names of a single word stay, for
/// they are words of the sentence too.
std::string with_flags(const CLI::App& app, std::string text) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name.find('-') == std::string::npos) continue;
      std::string field = name;
      std::ranges::replace(field, '-', '_');
      for (std::size_t at = 0; (at = text.find(field, at)) != std::string::npos;) {
        const std::size_t end = at + field.size();
        const bool whole = (at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]));
        if (whole) text.replace(at, field.size(), "--" + name);
        at = whole ? at + name.size() + 2 : end;
      }
    }
  }
  return text;
}

/// Throws for an --output that cannot be written, before the work rather than after it. Verbs whose output may be a
/// directory of files look after it themselves.
void check_output(const CLI::App& verb) {
  const CLI::Option* output = verb.get_option_no_throw("--output");
  if (output == nullptr || output->count() == 0 || verb.get_name() == "report" || verb.get_name() == "experiment" ||
      verb.get_name() == "merge") {
    return;
  }
  const std::filesystem::path file = output->as<std::string>();
  std::error_code error;
  check::that(!std::filesystem::is_directory(file, error), full_name(verb), "--output", file.string(),
              "a file, not a directory");
  files::AtomicFile probe(file);  // the temporary file beside it, gone at once
}

/// Runs the verb; its sentences speak of flags, and one that can be resumed says so when it is interrupted.
int run_verb(const CLI::App& verb, const Run& run) {
  const std::string goes_on = verb.get_option_no_throw("--resume") != nullptr
                                  ? fmt::format("; {} with the same arguments and --resume goes on", full_name(verb))
                                  : "";
  try {
    if (launch().task == 0) check_output(verb);
    return run();
  } catch (const InputError& error) {
    throw InputError(with_flags(verb, error.what()));
  } catch (const RankError& error) {
    throw RankError(fmt::format("{}: {}{}", full_name(verb), error.what(), error.code() == misuse ? "" : goes_on),
                    error.code());
  } catch (const Interrupted&) {
    throw EndedBySignal{fmt::format("catena: interrupted{}", goes_on)};
  }
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Infers the parameters of a simulator from a time series, by learning single transitions.\n", "catena");
  app.set_version_flag("--version", fmt::format("catena {}", version()), "print the version and exit");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.get_formatter()->label("SUBCOMMANDS", "VERB");
  app.get_formatter()->column_width(26);
  app.footer("Each verb has its own help: catena VERB --help.");
  app.require_subcommand(1);

  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.help));
    sub->group("Verbs");
    sub->get_formatter()->column_width(34);
    runs.emplace_back(sub, verb.set_up(*sub));
  }

  if (argc < 2) throw InputError("catena: a verb is missing; see catena --help");
  // An unknown verb gets our sentence, with the list of those known.
  const std::string_view first = argv[1];
  if (first != "-h" && first != "--help" && first != "--version") verbs().at("catena", first);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version arrive as exceptions
    throw InputError(sentence(app, error));
  }
  for (const auto& [sub, run] : runs) {
    if (!sub->parsed()) continue;
    if (verbs().at("catena", first).on_ranks) {
      prepare_ranks(identity_of(argc, argv));
    } else if (const Launch launched = launch(); launched.tasks > 1) {
      throw InputError(fmt::format("{}: {} has started {} tasks, but this verb works in one: start it without",
                                   full_name(*sub), launched.by, launched.tasks));
    }
    return run_verb(*sub, run);
  }
  throw InternalError("catena: no verb ran; please report this");
}

/// How a run ended: the exit code, and at most one sentence for standard error.
struct Ending {
  int code = success;
  std::string sentence;
};

Ending out_of_memory() { return {not_achieved, "catena: there is not enough memory for this; ask for less at a time"}; }

Ending bug(const std::exception& error) {
  return {our_bug, fmt::format("catena: this is a bug of ours, please report it: {}", error.what())};
}

Ending no_output(const std::string& reason) { return {misuse, "catena: standard output cannot be written: " + reason}; }

Ending guarded(int argc, char** argv) {
  try {
    const int code = parse_and_run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return no_output(std::generic_category().message(errno));
    return {code, ""};
  } catch (const InputError& error) {
    return {misuse, error.what()};
  } catch (const RankError& error) {
    return {error.code(), error.what()};
  } catch (const EndedBySignal& end) {
    return {interrupted, end.sentence};
  } catch (const Interrupted&) {
    return {interrupted, "catena: interrupted"};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // what containers throw for sizes beyond any memory
    return out_of_memory();
  } catch (const std::system_error& error) {  // of fmt::print among others
    if (std::ferror(stdout) != 0) return no_output(error.code().message());
    return bug(error);
  } catch (const std::exception& error) {
    return bug(error);
  }
}

}  // namespace

}  // namespace catena::cli

int main(int argc, char** argv) {
  catena::stop_on_interrupt();
  const catena::cli::Ending ending = catena::cli::guarded(argc, argv);
  return catena::cli::leave_ranks(ending.code, ending.sentence);
}
