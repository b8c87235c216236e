/// How bytes get from one rank to another: what ranks.h needs of MPI, and no more. mpi/transport.cpp implements it in a
/// library of its own, which the program loads when it is started by mpirun or srun; tests implement it in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace catena {

/// Several threads may call it; they take turns. Messages of one pair of ranks and one tag arrive in order.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string host(int rank) const = 0;

  /// Something that is under way; done() says when it is over, and frees it then.
  using Pending = void*;
  /// The bytes must stay where they are until done().
  virtual Pending send(int to, int tag, const void* bytes, std::size_t count) = 0;
  virtual Pending receive(int from, int tag, void* bytes, std::size_t count) = 0;
  virtual bool done(Pending pending) = 0;

  static constexpr int any = -1;
  /// Whether a message is there to be received: from whom, and how long it is.
  virtual bool arrived(int from, int tag, int& sender, std::size_t& bytes) = 0;

  /// All ranks together, when nothing is under way: the end.
  virtual void finish() = 0;
};

/// What the library with MPI exports under the name catena_open_transport; throws std::runtime_error with a sentence.
using OpenTransport = Transport* (*)();
inline constexpr const char* open_transport_name = "catena_open_transport";

}  // namespace catena
