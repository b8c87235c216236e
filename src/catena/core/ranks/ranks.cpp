#include "catena/core/ranks/ranks.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/core/progress.h"
#include "catena/core/ranks/bytes.h"

namespace catena {

namespace {

using RankClock = std::chrono::steady_clock;

double seconds_since(RankClock::time_point then) {
  return std::chrono::duration<double>(RankClock::now() - then).count();
}

enum Tag : int { control_tag = 1, data_tag, number_tag, result_tag };
enum class Control : char { alive, farewell, ask };

constexpr double sign_of_life_every = 1;                         // seconds
constexpr std::chrono::milliseconds look_for_messages_every{1};  // of the thread that answers; some µs of work each
constexpr int lost_code = 1, interrupted_code = 130;             // of verb.h
constexpr std::size_t longest_message = std::size_t{1} << 30;    // MPI counts in ints

/// Between two looks at something that is awaited: first without giving up the processor for long, then with.
class Patience {
 public:
  void wait() {
    // A message within a machine takes some microseconds, so sleeping at once would double a training step's time.
    if (++turns_ < 400) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(turns_ < 2000 ? 50 : 500));
    }
  }

 private:
  int turns_ = 0;
};

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const std::byte each : bytes) hash = (hash ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
  return hash;
}

}  // namespace

/// The messages of one process, and the thread that answers for it.
class Ranks::Wire {
 public:
  Wire(std::unique_ptr<Transport> transport, const RankLimits& limits)
      : transport_(std::move(transport)), limits_(limits), peers_(static_cast<std::size_t>(transport_->size())) {
    for (Peer& peer : peers_) peer.heard = peer.moved = RankClock::now();
    listener_ = std::thread([this] { listen(); });
  }

  ~Wire() { stop_listening(); }

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  std::string name(int rank) const { return fmt::format("rank {} on {}", rank, transport_->host(rank)); }
  void tick() { ++ticks_; }

  void send(int to, int tag, std::string bytes) {
    CATENA_ASSERT(bytes.size() <= longest_message);
    const std::lock_guard lock(sent_mutex_);
    std::erase_if(sent_, [this](const Message& each) { return transport_->done(each.pending); });
    sent_.push_back({nullptr, std::move(bytes)});
    Message& mine = sent_.back();
    mine.pending = transport_->send(to, tag, mine.bytes.data(), mine.bytes.size());
  }

  /// Waits for a message; throws if the wait is in vain.
  std::string receive(int from, int tag) {
    Patience patience;
    std::string bytes;
    int sender = from;
    for (;;) {
      if (try_receive(sender, tag, bytes, true)) return bytes;
      check();
      patience.wait();
    }
  }

  /// A message, if one is there. `checked`: throws if it comes no further.
  bool try_receive(int& from, int tag, std::string& bytes, bool checked) {
    std::size_t size = 0;
    int sender = from;
    if (!transport_->arrived(from, tag, sender, size)) return false;
    // In a list that outlives an exception: the transport writes to it until it is done.
    received_mutex_.lock();
    Message& message = received_.emplace_back();
    const auto place = std::prev(received_.end());
    received_mutex_.unlock();
    message.bytes.resize(size);
    message.pending = transport_->receive(sender, tag, message.bytes.data(), size);
    Patience patience;
    while (!transport_->done(message.pending)) {
      if (checked) check();
      if (!checked && ending_) return false;
      patience.wait();
    }
    bytes = std::move(message.bytes);
    from = sender;
    const std::lock_guard lock(received_mutex_);
    received_.erase(place);
    return true;
  }

  /// Throws if a wait has become pointless.
  void check() {
    ++ticks_;
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw RankError(failure_, failure_code_);
    if (stop_requested()) throw Interrupted();
  }

  // Numbers that are dealt out by the first rank; its listener answers while its main thread works.

  void begin_deal(std::uint64_t number, std::size_t count, std::size_t allowed) {
    const std::lock_guard lock(mutex_);
    deals_[number] = {0, count, std::min(count, allowed)};
  }
  void allow(std::uint64_t number, std::size_t allowed) {
    const std::lock_guard lock(mutex_);
    Deal& deal = deals_.at(number);
    deal.allowed = std::min(deal.count, allowed);
  }
  void end_deal(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    Deal& deal = deals_.at(number);
    deal.next = deal.allowed = deal.count;
  }
  /// On the first rank: false if there is none now; `count` when there are no more.
  bool own_number(std::uint64_t number, std::size_t& got) {
    const std::lock_guard lock(mutex_);
    return next_number(number, got);
  }
  /// On the others: waits for one.
  std::size_t ask_number(std::uint64_t number) {
    send(0, control_tag, BytesWriter().put(Control::ask).put(number).take());
    return BytesReader(receive(0, number_tag)).get<std::uint64_t>();
  }

  int leave(int code, const std::string& sentence) {
    const std::string farewell = BytesWriter().put(Control::farewell).put(code).put_text(sentence).take();
    const auto began = RankClock::now();
    leaving_ = true;
    if (rank() != 0) send(0, control_tag, farewell);
    if (rank() == 0 && code != 0) send_to_others(farewell);
    const auto heard_all = [&] {
      const std::lock_guard lock(mutex_);
      if (rank() != 0) return peers_[0].left;
      return std::ranges::all_of(peers_.begin() + 1, peers_.end(), &Peer::left);
    };
    Patience patience;
    while (!heard_all()) {
      const bool failed = [&] {
        const std::lock_guard lock(mutex_);
        return !failure_.empty() || code != 0;
      }();
      if (failed && seconds_since(began) > limits_.farewell) break;
      patience.wait();
    }
    {
      const std::lock_guard lock(mutex_);
      if (code == 0 && !failure_.empty()) code = failure_code_;
      if (rank() != 0 && peers_[0].left && peers_[0].code != 0) code = peers_[0].code;  // one code for all
      for (const Peer& peer : peers_) {
        if (code == 0 && peer.left) code = peer.code;
      }
    }
    if (rank() == 0 && code == 0) send_to_others(farewell);
    if (code == 0) {
      flush();
      stop_listening();
      transport_->finish();
    }
    return code;
  }

  bool any_lost() const { return lost_; }

 private:
  struct Message {
    Transport::Pending pending = nullptr;
    std::string bytes;
  };
  struct Peer {
    RankClock::time_point heard, moved;  // the last sign of life; of life that went on
    std::uint64_t ticks = 0;
    bool left = false;
    int code = 0;
  };
  struct Deal {
    std::size_t next = 0, count = 0, allowed = 0;
  };

  void send_to_others(const std::string& bytes) {
    for (int r = 0; r < size(); ++r) {
      if (r != rank()) send(r, control_tag, bytes);
    }
  }

  /// Until everything that was sent has gone, or nobody takes it.
  void flush() {
    const auto began = RankClock::now();
    Patience patience;
    while (seconds_since(began) < limits_.farewell) {
      {
        const std::lock_guard lock(sent_mutex_);
        std::erase_if(sent_, [this](const Message& each) { return transport_->done(each.pending); });
        if (sent_.empty()) return;
      }
      patience.wait();
    }
  }

  void stop_listening() {
    ending_ = true;
    if (listener_.joinable()) listener_.join();
  }

  /// With mutex_.
  bool next_number(std::uint64_t number, std::size_t& got) {
    const auto found = deals_.find(number);
    if (found == deals_.end()) return false;  // the first rank has not come so far
    Deal& deal = found->second;
    if (deal.next < deal.allowed) {
      got = deal.next++;
      return true;
    }
    got = deal.count;
    return deal.next == deal.count;
  }

  void listen() {
    auto spoke = RankClock::now() - std::chrono::hours(1);
    while (!ending_) {
      try {
        listen_once(spoke);
      } catch (const std::exception& error) {  // of the transport: whoever waits in vain learns why
        const std::lock_guard lock(mutex_);
        fail(fmt::format("{} cannot speak to the others any more: {}", name(rank()), error.what()), lost_code);
      }
      std::this_thread::sleep_for(look_for_messages_every);
    }
  }

  void listen_once(RankClock::time_point& spoke) {
    int from = Transport::any;
    std::string bytes;
    while (!ending_ && try_receive(from, control_tag, bytes, false)) {
      hear(from, bytes);
      from = Transport::any;
    }
    answer();
    if (seconds_since(spoke) < sign_of_life_every) return;
    spoke = RankClock::now();
    give_sign_of_life();
    look_after_others();
  }

  void hear(int from, std::string_view bytes) {
    BytesReader reader(bytes);
    const auto kind = reader.get<Control>();
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[static_cast<std::size_t>(from)];
    peer.heard = RankClock::now();
    if (kind == Control::ask) {
      asked_.emplace_back(from, reader.get<std::uint64_t>());
      peer.moved = peer.heard;
    } else if (kind == Control::alive) {
      note_ticks(peer, reader.get<std::uint64_t>());
      if (reader.get<char>() != 0) request_stop();
    } else {
      peer.left = true;
      peer.code = reader.get<int>();
      const std::string sentence(reader.get_text());
      if (peer.code == interrupted_code || (rank() != 0 && peer.code != 0)) {
        request_stop();
      } else if (peer.code != 0) {
        fail(sentence.empty() ? fmt::format("{} has ended with code {}", name(from), peer.code)
                              : fmt::format("{}: {}", name(from), sentence),
             peer.code);
      }
    }
  }

  /// Gives numbers to those who asked, as far as there are any.
  void answer() {
    std::vector<std::pair<int, std::size_t>> answers;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(asked_, [&](const std::pair<int, std::uint64_t>& each) {
        std::size_t number = 0;
        if (!next_number(each.second, number)) return false;
        answers.emplace_back(each.first, number);
        return true;
      });
    }
    for (const auto& [to, number] : answers) {
      send(to, number_tag, BytesWriter().put<std::uint64_t>(number).take());
    }
  }

  void give_sign_of_life() {
    const std::string alive =
        BytesWriter().put(Control::alive).put<std::uint64_t>(movement()).put<char>(stop_requested() ? 1 : 0).take();
    // A link that is cut takes nothing: what waits to be sent must not grow without bound.
    {
      const std::lock_guard lock(sent_mutex_);
      std::erase_if(sent_, [this](const Message& each) { return transport_->done(each.pending); });
      if (sent_.size() > 1000) return;
    }
    if (rank() != 0) {
      send(0, control_tag, alive);
    } else {
      send_to_others(alive);
    }
  }

  void look_after_others() {
    const std::lock_guard lock(mutex_);
    peers_[static_cast<std::size_t>(rank())].heard = RankClock::now();
    note_ticks(peers_[static_cast<std::size_t>(rank())], movement());
    for (int r = 0; r < size(); ++r) {
      Peer& peer = peers_[static_cast<std::size_t>(r)];
      if (peer.left || (rank() != 0 && r != 0)) continue;
      if (seconds_since(peer.heard) > limits_.silence) {
        lost_ = true;
        peer.left = true;  // nobody waits for its farewell
        fail(fmt::format("{} has not been heard of for {:.3g} s (--rank-seconds): it hangs, or its machine or the link "
                         "to it is lost",
                         name(r), limits_.silence),
             lost_code);
      } else if (rank() == 0 && limits_.piece > 0 && seconds_since(peer.moved) > limits_.piece) {
        peer.left = true;
        fail(fmt::format("{} has been at one piece of work for {:.3g} s (--piece-seconds): it hangs", name(r),
                         limits_.piece),
             lost_code);
      }
      if (peer.left) peer.code = lost_code;
    }
    const bool hangs = peers_[static_cast<std::size_t>(rank())].left;  // this rank's own main thread
    const bool overdue = !failure_.empty() && (hangs || seconds_since(failed_) > limits_.farewell);
    if (overdue && !leaving_ && limits_.give_up) limits_.give_up(failure_, failure_code_);
  }

  /// With mutex_.
  /// Grows while this rank works: what was sent and ticked, and whatever reports progress (training, chains).
  std::uint64_t movement() const { return ticks_ + advances(); }

  static void note_ticks(Peer& peer, std::uint64_t ticks) {
    if (ticks != peer.ticks) peer.moved = peer.heard;
    peer.ticks = ticks;
  }

  /// With mutex_. The first failure counts.
  void fail(const std::string& sentence, int code) {
    if (!failure_.empty()) return;
    failure_ = sentence;
    failure_code_ = code;
    failed_ = RankClock::now();
  }

  std::unique_ptr<Transport> transport_;
  RankLimits limits_;
  std::atomic<bool> ending_ = false, leaving_ = false, lost_ = false;
  std::atomic<std::uint64_t> ticks_ = 0;
  std::mutex sent_mutex_, received_mutex_, mutex_;
  std::list<Message> sent_, received_;
  std::vector<Peer> peers_;                         // below: with mutex_
  std::map<std::uint64_t, Deal> deals_;             // of the first rank
  std::list<std::pair<int, std::uint64_t>> asked_;  // for a number of a deal
  std::string failure_;
  int failure_code_ = 0;
  RankClock::time_point failed_;
  std::thread listener_;

 public:
  std::uint64_t deals = 0;  // so far, on every rank
};

Ranks::Ranks(std::shared_ptr<Wire> wire, std::vector<int> members, int index)
    : wire_(std::move(wire)), members_(std::move(members)), index_(index) {}

Ranks::~Ranks() = default;

std::shared_ptr<Ranks> Ranks::one() {
  static const std::shared_ptr<Ranks> alone(new Ranks(nullptr, {0}, 0));
  return alone;
}

std::shared_ptr<Ranks> Ranks::start(std::unique_ptr<Transport> transport, const RankLimits& limits,
                                    const std::string& identity) {
  std::vector<int> members;
  for (int r = 0; r < transport->size(); ++r) members.push_back(r);
  const int rank = transport->rank();
  const auto wire = std::make_shared<Wire>(std::move(transport), limits);
  std::shared_ptr<Ranks> ranks(new Ranks(wire, std::move(members), rank));
  const std::vector<std::string> all = ranks->all_gather(identity);
  for (int r = 1; r < ranks->size(); ++r) {
    if (all[static_cast<std::size_t>(r)] == all[0]) continue;
    throw RankError(fmt::format("{} was started with another version or other arguments than {}, but must not be",
                                ranks->name(r), ranks->name(0)),
                    2);
  }
  return ranks;
}

std::string Ranks::name(int rank) const {
  return wire_ ? wire_->name(members_[static_cast<std::size_t>(rank)]) : "rank 0";
}

void Ranks::broadcast(std::string& bytes) {
  if (!shared()) return;
  if (!first()) {
    bytes = wire_->receive(members_[0], data_tag);
    return;
  }
  for (std::size_t r = 1; r < members_.size(); ++r) wire_->send(members_[r], data_tag, bytes);
}

std::vector<std::string> Ranks::all_gather(std::string mine) {
  std::vector<std::string> all(members_.size());
  for (std::size_t r = 0; r < members_.size(); ++r) {
    if (static_cast<int>(r) != index_) wire_->send(members_[r], data_tag, mine);
  }
  for (std::size_t r = 0; r < members_.size(); ++r) {
    if (static_cast<int>(r) != index_) all[r] = wire_->receive(members_[r], data_tag);
  }
  all[static_cast<std::size_t>(index_)] = std::move(mine);
  return all;
}

void Ranks::barrier() {
  if (shared()) static_cast<void>(all_gather({}));
}

void Ranks::check_same(std::string_view what, std::span<const std::byte> bytes) {
  if (!shared()) return;
  const std::vector<std::string> all = all_gather(BytesWriter().put(hash_of(bytes)).take());
  for (int r = 1; r < size(); ++r) {
    if (all[static_cast<std::size_t>(r)] == all[0]) continue;
    throw RankError(fmt::format("{} has other bits in {} than {}: machines whose processors differ cannot share work",
                                name(r), what, name(0)),
                    1);
  }
}

bool Ranks::first_says(bool yes) {
  std::string bytes(1, yes ? 1 : 0);
  broadcast(bytes);
  return bytes[0] != 0;
}

void Ranks::deal(std::size_t count, std::size_t ahead, const std::function<std::string(std::size_t)>& make,
                 const std::function<void(std::size_t, std::string&&)>& take) {
  if (!shared()) {
    for (std::size_t i = 0; i < count; ++i) take(i, make(i));
    return;
  }
  CATENA_ASSERT(size() == wire_->size() && ahead > 0);
  const std::uint64_t number = ++wire_->deals;
  if (!first()) {
    for (std::size_t i = wire_->ask_number(number); i < count; i = wire_->ask_number(number)) {
      wire_->tick();
      std::string bytes = make(i);  // and its number after it, where taking it off again copies nothing
      bytes += BytesWriter().put<std::uint64_t>(i).take();
      wire_->send(0, result_tag, std::move(bytes));
    }
    return;
  }
  wire_->begin_deal(number, count, ahead);
  std::set<std::size_t> early;  // taken although a lower one is not
  std::size_t taken = 0, lowest = 0;
  const auto taking = [&](std::size_t i, std::string&& bytes) {
    take(i, std::move(bytes));
    ++taken;
    early.insert(i);
    while (early.erase(lowest) > 0) ++lowest;
    wire_->allow(number, lowest + ahead);
  };
  Patience patience;
  while (taken < count) {
    int from = Transport::any;
    std::string bytes;
    if (wire_->try_receive(from, result_tag, bytes, true)) {
      const std::size_t size = bytes.size() - sizeof(std::uint64_t);
      const auto i = BytesReader(std::string_view(bytes).substr(size)).get<std::uint64_t>();
      bytes.resize(size);
      taking(i, std::move(bytes));
    } else if (std::size_t i = count; wire_->own_number(number, i) && i < count) {
      wire_->tick();
      taking(i, make(i));
    } else {
      wire_->check();
      patience.wait();
      continue;
    }
    patience = {};
  }
  wire_->end_deal(number);
}

std::shared_ptr<Ranks> Ranks::group(int groups, int& which) const {
  for (which = 0; which < groups; ++which) {
    const int begin = size() * which / groups, end = size() * (which + 1) / groups;
    if (index_ < begin || index_ >= end) continue;
    return std::shared_ptr<Ranks>(new Ranks(wire_, {members_.begin() + begin, members_.begin() + end}, index_ - begin));
  }
  throw InternalError("ranks: a group without this rank");
}

void Ranks::tick() const {
  if (wire_) wire_->tick();
}

int Ranks::leave(int code, const std::string& sentence) { return wire_ ? wire_->leave(code, sentence) : code; }

bool Ranks::any_lost() const { return wire_ && wire_->any_lost(); }

void share_items(Ranks& ranks, std::size_t count, const std::function<std::string(std::size_t)>& bytes_of,
                 const std::function<void(std::size_t, std::string_view)>& read) {
  if (!ranks.shared()) return;
  BytesWriter mine;
  for (std::size_t i = 0; i < count; ++i) {
    if (ranks.has(i)) mine.put_text(bytes_of(i));
  }
  const std::vector<std::string> all = ranks.all_gather(mine.take());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (static_cast<int>(r) == ranks.rank()) continue;
    BytesReader reader(all[r]);
    for (std::size_t i = r; i < count; i += all.size()) read(i, reader.get_text());
  }
}

}  // namespace catena
