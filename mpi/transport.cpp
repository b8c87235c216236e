// Messages between ranks by MPI (src/catena/core/ranks/transport.h). A library of its own, libcatena_mpi.so, which the
// program loads when mpirun or srun has started it (cli/ranks.cpp): nothing else of catena knows of MPI.

#include "catena/core/ranks/transport.h"

#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "catena/core/ranks/ranks.h"

namespace catena {
namespace {

void check_mpi(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw RankError(std::string("MPI failed to ") + what + ": " + text, 1);
}

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    // Readers of netCDF files are child processes (files/isolate.h) that never speak MPI: no warning about them.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet
    ::setenv("OMPI_MCA_mpi_warn_on_fork", "0", /*overwrite=*/0);
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "start");
    if (provided < MPI_THREAD_SERIALIZED) throw std::runtime_error("this MPI works with one thread only");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    std::vector<char> all(static_cast<std::size_t>(size_) * MPI_MAX_PROCESSOR_NAME);
    check_mpi(MPI_Allgather(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                            MPI_COMM_WORLD),
              "gather the names of the hosts");
    for (int r = 0; r < size_; ++r) {
      hosts_.emplace_back(all.data() + static_cast<std::size_t>(r) * MPI_MAX_PROCESSOR_NAME);
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host(int rank) const override { return hosts_[static_cast<std::size_t>(rank)]; }

  Pending send(int to, int tag, const void* bytes, std::size_t count) override {
    const std::lock_guard lock(mutex_);
    auto* request = new MPI_Request;
    check_mpi(MPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD, request), "send");
    return static_cast<void*>(request);
  }

  Pending receive(int from, int tag, void* bytes, std::size_t count) override {
    const std::lock_guard lock(mutex_);
    auto* request = new MPI_Request;
    check_mpi(MPI_Irecv(bytes, static_cast<int>(count), MPI_BYTE, from, tag, MPI_COMM_WORLD, request), "receive");
    return static_cast<void*>(request);
  }

  bool done(Pending pending) override {
    const std::lock_guard lock(mutex_);
    auto* request = static_cast<MPI_Request*>(pending);
    int flag = 0;
    check_mpi(MPI_Test(request, &flag, MPI_STATUS_IGNORE), "look after a message");
    if (flag != 0) delete request;
    return flag != 0;
  }

  bool arrived(int from, int tag, int& sender, std::size_t& bytes) override {
    const std::lock_guard lock(mutex_);
    int flag = 0, count = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(from == any ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &flag, &status),
              "look for messages");
    if (flag == 0) return false;
    MPI_Get_count(&status, MPI_BYTE, &count);
    sender = status.MPI_SOURCE;
    bytes = static_cast<std::size_t>(count);
    return true;
  }

  void finish() override {
    const std::lock_guard lock(mutex_);
    MPI_Finalize();
  }

 private:
  std::mutex mutex_;
  int rank_ = 0, size_ = 1;
  std::vector<std::string> hosts_;
};

}  // namespace
}  // namespace catena

extern "C" __attribute__((visibility("default"))) catena::Transport* catena_open_transport() {
  return new catena::MpiTransport;
}
