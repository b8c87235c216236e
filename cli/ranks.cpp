#include "ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <thread>

#include "catena/core/environment.h"
#include "catena/core/errors.h"

namespace catena::cli {

namespace {

struct ProgramRanks {
  RankLimits limits;
  std::string identity;
  std::shared_ptr<Ranks> ranks;
  int error_output = STDERR_FILENO;  // as it was before the other ranks were silenced
};

ProgramRanks& program() {
  static ProgramRanks ranks;
  return ranks;
}

/// The library with MPI, beside the program or where `cmake --install` puts it.
std::filesystem::path mpi_library() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {".", "../" CATENA_LIBDIR "/catena"}) {
    const std::filesystem::path file = here / place / "libcatena_mpi.so";
    if (std::filesystem::exists(file, error)) return file;
  }
  return {};
}

std::unique_ptr<Transport> open_transport(const Launch& launched) {
  const auto no_mpi = [&](const std::string& why) {
    return InputError(fmt::format("catena: {} has started {} tasks, but {}; start one without it, or use --shard",
                                  launched.by, launched.tasks, why));
  };
  const std::filesystem::path file = mpi_library();
  if (file.empty()) throw no_mpi("this catena was built without MPI (libopenmpi-dev)");
  // MPI loads parts of itself that look for its symbols: RTLD_GLOBAL.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) throw no_mpi(fmt::format("MPI cannot be loaded: {}", ::dlerror()));
  const auto open = reinterpret_cast<OpenTransport>(::dlsym(handle, open_transport_name));
  if (open == nullptr) throw no_mpi(fmt::format("{} is of another catena", file.string()));
  try {
    std::unique_ptr<Transport> transport(open());
    if (transport->size() == launched.tasks) return transport;
    throw no_mpi(fmt::format("MPI knows of {}: is it the same MPI (srun --mpi=pmix)?", transport->size()));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw no_mpi(error.what());
  }
}

/// The name of a process, as the kernel has it.
std::string process_name(pid_t process) {
  std::string name;
  if (FILE* file = std::fopen(fmt::format("/proc/{}/comm", process).c_str(), "r")) {
    for (int c = std::fgetc(file); c != EOF && c != '\n'; c = std::fgetc(file)) name += static_cast<char>(c);
    std::fclose(file);
  }
  return name;
}

/// mpirun would wait for its daemon on a machine that is lost, for as long as TCP sends again: a quarter of an hour.
/// Who is left to end it is a child of this process, which gives it some seconds to end by itself. A second signal
/// tells mpirun to wait for nobody.
void end_waiting_launcher() {
  constexpr unsigned grace = 3;  // seconds
  const pid_t launcher = ::getppid();
  const std::string name = process_name(launcher);
  const char* const known[] = {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"};
  if (std::ranges::find(known, name) == std::end(known)) return;
  if (::fork() != 0) return;
  ::setsid();
  for (int descriptor = 0; descriptor < 256; ++descriptor) ::close(descriptor);
  std::this_thread::sleep_for(std::chrono::seconds(grace));
  if (::kill(launcher, SIGTERM) == 0) {
    ::usleep(500000);
    ::kill(launcher, SIGTERM);
  }
  ::_exit(0);
}

/// Files of this process are whole or partial at any moment, so that it may end at once.
[[noreturn]] void end_now(const std::string& sentence, int code) {
  const std::string line = sentence + "\n";
  static_cast<void>(!::write(program().error_output, line.data(), line.size()));
  if (program().ranks && program().ranks->any_lost()) end_waiting_launcher();
  ::_exit(code);
}

}  // namespace

Launch launch() {
  // Open MPI's mpirun, srun with PMIx or PMI-2, and mpiexec of MPICH's family. SLURM_STEP_NUM_TASKS alone is srun
  // without a process manager: several programs that know nothing of each other.
  Launch found;
  if (const int tasks = environment_number("OMPI_COMM_WORLD_SIZE", 0); tasks > 0) {
    found = {tasks, environment_number("OMPI_COMM_WORLD_RANK", 0), "mpirun"};
  } else if (const int steps = environment_number("SLURM_STEP_NUM_TASKS", 0); steps > 1) {
    found = {steps, environment_number("SLURM_PROCID", 0), "srun"};
  } else if (const int processes = environment_number("PMI_SIZE", 0); processes > 0) {
    found = {processes, environment_number("PMI_RANK", 0), "mpiexec"};
  }
  return found;
}

RankLimits& rank_limits() { return program().limits; }

void prepare_ranks(const std::string& identity) { program().identity = identity; }

std::shared_ptr<Ranks> program_ranks() {
  ProgramRanks& own = program();
  if (own.ranks) return own.ranks;
  const Launch launched = launch();
  if (launched.tasks <= 1 || own.identity.empty()) return Ranks::one();
  if (launched.task != 0) {
    // One voice: what the others have to say, they tell the first.
    own.error_output = ::dup(STDERR_FILENO);
    std::fflush(nullptr);
    for (FILE* stream : {stdout, stderr}) {
      if (std::freopen("/dev/null", "w", stream) == nullptr) throw InputError("catena: /dev/null cannot be opened");
    }
  }
  own.limits.give_up = end_now;
  own.ranks = Ranks::start(open_transport(launched), own.limits, own.identity);
  return own.ranks;
}

int leave_ranks(int code, const std::string& sentence) {
  ProgramRanks& own = program();
  const bool speaks = own.ranks ? own.ranks->first() : launch().task == 0;
  if (speaks && !sentence.empty()) fmt::print(stderr, "{}\n", sentence);
  if (!own.ranks) return code;
  std::fflush(nullptr);
  code = own.ranks->leave(code, sentence);
  // MPI waits for all ranks in its end, of which one may be lost.
  if (code != 0) {
    std::fflush(nullptr);
    if (own.ranks->any_lost()) end_waiting_launcher();
    ::_exit(code);
  }
  return code;
}

}  // namespace catena::cli
