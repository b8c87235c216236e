/// Ranks: processes, on one machine or many, that do one piece of work together. Every rank runs the whole program;
/// what takes long is cut into the same blocks always, each block is made by one rank, and what came out goes together
/// in the order of the blocks, so that the result has the same bits for any number of ranks. Parallel (parallel.h)
/// carries them to whoever shares its work out.
///
/// A thread of its own says every second that this rank is alive: a rank that falls silent, because its machine is lost
/// or it was stopped, is named and ends the run; so does one that has been at the same piece of work for too long. A
/// stop that one rank is asked for (a signal) is passed on to all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catena/core/ranks/transport.h"

namespace catena {

/// Another rank has failed, or is not heard of. what() is one sentence that names it.
class RankError : public std::runtime_error {
 public:
  RankError(const std::string& sentence, int code) : std::runtime_error(sentence), code_(code) {}
  int code() const { return code_; }  ///< that of the rank that failed; 1 for one that is lost

 private:
  int code_;
};

struct RankLimits {
  double silence = 30;   // seconds without a sign of life after which a rank is lost
  double piece = 3600;   // seconds at one piece of work after which a rank hangs; 0: no limit
  double farewell = 10;  // seconds in which the others end once one has failed or a stop was asked for
  /// Ends the program at once, with a sentence, when its main thread does not come to it.
  std::function<void(const std::string& sentence, int code)> give_up = {};
};

class Ranks {
 public:
  /// This process and no other.
  static std::shared_ptr<Ranks> one();
  /// All processes of the transport. Throws RankError if they do not all begin with the same `identity`: another
  /// version, other arguments.
  static std::shared_ptr<Ranks> start(std::unique_ptr<Transport> transport, const RankLimits& limits,
                                      const std::string& identity);
  ~Ranks();

  int rank() const { return index_; }
  int size() const { return static_cast<int>(members_.size()); }
  bool shared() const { return size() > 1; }
  /// The one that writes files and speaks.
  bool first() const { return index_ == 0; }
  /// "rank 2 on node7"
  std::string name(int rank) const;

  // All ranks call these, in the same order. A wait ends with Interrupted when a stop is asked for, and with RankError
  // when another rank has failed.

  /// Bytes of the first rank, to all.
  void broadcast(std::string& bytes);
  /// Bytes of every rank, in the order of the ranks, to all.
  std::vector<std::string> all_gather(std::string mine);
  void barrier();
  /// Throws RankError if a rank has other bytes: machines whose processors round differently cannot share work.
  void check_same(std::string_view what, std::span<const std::byte> bytes);
  /// What the first rank's clock says, for all.
  bool first_says(bool yes);

  /// 0 … count − 1, each to the rank that has nothing to do: make(i) on one of them, take(i, bytes) on the first, in
  /// the order in which they come. No rank gets a number `ahead` or more beyond the lowest that was not yet taken.
  /// For all ranks of the program only.
  void deal(std::size_t count, std::size_t ahead, const std::function<std::string(std::size_t)>& make,
            const std::function<void(std::size_t, std::string&&)>& take);

  /// Which of `count` blocks, in a row, are this rank's.
  std::pair<std::size_t, std::size_t> mine(std::size_t count) const { return part(count, index_); }
  std::pair<std::size_t, std::size_t> part(std::size_t count, int rank) const {
    const auto r = static_cast<std::size_t>(rank), of = static_cast<std::size_t>(size());
    return {count * r / of, count * (r + 1) / of};
  }

  /// Whether item i of many is this rank's, where they are dealt in turn.
  bool has(std::size_t i) const { return i % members_.size() == static_cast<std::size_t>(index_); }

  /// Of so many groups of neighbours, as even as can be: the one that this rank is in. No communication.
  std::shared_ptr<Ranks> group(int groups, int& which) const;

  /// This rank goes on with something new: see RankLimits::piece.
  void tick() const;

  /// The last thing that every rank calls: tells the others how it ended and waits for them, though not for long if
  /// anything failed. Returns the code of the whole; 0: the transport is finished.
  int leave(int code, const std::string& sentence);
  /// Whether a rank is not heard of any more.
  bool any_lost() const;

 private:
  class Wire;
  Ranks(std::shared_ptr<Wire> wire, std::vector<int> members, int index);

  std::shared_ptr<Wire> wire_;  // null: one process
  std::vector<int> members_;    // by their numbers in the transport
  int index_ = 0;
};

/// Of `count` items every rank has made those that it has(); then all have all of them: bytes_of(i) gives the bytes of
/// one of this rank's, read(i, bytes) takes one of another's.
void share_items(Ranks& ranks, std::size_t count, const std::function<std::string(std::size_t)>& bytes_of,
                 const std::function<void(std::size_t, std::string_view)>& read);

}  // namespace catena
