// The program: finds the verb, parses its flags, runs it, and turns whatever happened into an exit code and at most one
// sentence on standard error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <cstdio>
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
#include "common.h"
#include "verb.h"

namespace catena::cli {

namespace {

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
    if (sub->parsed()) return run();
  }
  throw InternalError("catena: no verb ran; please report this");
}

int out_of_memory() {
  std::fputs("catena: there is not enough memory for this; ask for less at a time\n", stderr);
  return not_achieved;
}

int guarded(int argc, char** argv) {
  try {
    const int code = parse_and_run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw FileError(
          fmt::format("catena: standard output cannot be written: {}", std::generic_category().message(errno)));
    }
    return code;
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return misuse;
  } catch (const Interrupted&) {
    std::fputs("catena: interrupted\n", stderr);
    return interrupted;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // what containers throw for sizes beyond any memory
    return out_of_memory();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "catena: this is a bug of ours, please report it: %s\n", error.what());
    return our_bug;
  }
}

}  // namespace

}  // namespace catena::cli

int main(int argc, char** argv) {
  catena::stop_on_interrupt();
  return catena::cli::guarded(argc, argv);
}
