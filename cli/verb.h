/// A verb of the command line: `catena VERB …`. Each verb is one file in cli/ and one line of the list in verbs.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

#include "catena/core/registry.h"

namespace catena::cli {

/// What the program says to the shell.
enum ExitCode : int {
  success = 0,
  not_achieved = 1,   // a numerical failure, or a result that misses what was asked for
  misuse = 2,         // a flag, a value or a file that cannot be used; one sentence on standard error
  our_bug = 70,       // EX_SOFTWARE of sysexits.h
  interrupted = 130,  // 128 + SIGINT, as a shell reports it
};

/// Does the work once the arguments are parsed and returns an exit code; throws InputError for misuse.
using Run = std::function<int()>;

struct Verb {
  std::string_view name;
  std::string_view help;                 // one line, for the list of verbs
  std::function<Run(CLI::App&)> set_up;  // adds the flags; what it returns keeps what they write to alive
  bool on_ranks = false;                 // works on the ranks of mpirun and srun (ranks.h)
};

/// All verbs, in the order in which data flows.
const Registry<Verb>& verbs();

}  // namespace catena::cli
