/// Ranks of the program: what mpirun and srun start. MPI is loaded only then, from a library of its own beside the
/// program (libcatena_mpi.so, mpi/transport.cpp), so that the program needs no MPI for anything else.
#pragma once

#include <memory>
#include <string>

#include "catena/core/ranks/ranks.h"

namespace catena::cli {

/// How many tasks a launcher has started of this program, and which this one is; 1 and 0 without a launcher.
struct Launch {
  int tasks = 1, task = 0;
  std::string by;  // "mpirun"
};
Launch launch();

/// The limits that flags set before the ranks are asked for.
RankLimits& rank_limits();

/// Says what is about to run, for ranks to compare, and that it may run on several; before program_ranks().
void prepare_ranks(const std::string& identity);
/// The ranks, which the first call starts; this process alone without a launcher. Throws InputError if there is one but
/// no MPI. Not before a plug-in is isolated (isolated.h): MPI does not survive a fork.
std::shared_ptr<Ranks> program_ranks();

/// The last thing that a process does: tells the other ranks how it ended, and says so if it is the first. Returns the
/// exit code of the whole.
int leave_ranks(int code, const std::string& sentence);

}  // namespace catena::cli
