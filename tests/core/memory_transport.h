/// Ranks as threads of one process, for tests: messages go through queues in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "catena/core/ranks/transport.h"

namespace catena {

class MemoryTransport final : public Transport {
 public:
  struct Network {
    struct Message {
      int from, to, tag;
      std::string bytes;
    };
    std::mutex mutex;
    std::deque<Message> messages;
    std::vector<bool> cut;  // from whom nothing arrives any more
    std::vector<bool> finished;
  };

  static std::vector<std::unique_ptr<Transport>> make(int size, std::shared_ptr<Network>* network = nullptr) {
    const auto shared = std::make_shared<Network>();
    shared->cut.assign(static_cast<std::size_t>(size), false);
    shared->finished.assign(static_cast<std::size_t>(size), false);
    if (network != nullptr) *network = shared;
    std::vector<std::unique_ptr<Transport>> all;
    for (int r = 0; r < size; ++r) all.push_back(std::make_unique<MemoryTransport>(shared, r, size));
    return all;
  }

  MemoryTransport(std::shared_ptr<Network> network, int rank, int size)
      : network_(std::move(network)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host(int rank) const override { return "host-" + std::to_string(rank); }

  Pending send(int to, int tag, const void* bytes, std::size_t count) override {
    const std::lock_guard lock(network_->mutex);
    if (!network_->cut[static_cast<std::size_t>(rank_)]) {
      network_->messages.push_back({rank_, to, tag, std::string(static_cast<const char*>(bytes), count)});
    }
    return this;
  }

  Pending receive(int from, int tag, void* bytes, std::size_t count) override {
    const std::lock_guard lock(network_->mutex);
    const auto found = find(from, tag);
    std::memcpy(bytes, found->bytes.data(), count);
    network_->messages.erase(found);
    return this;
  }

  bool done(Pending) override { return true; }

  bool arrived(int from, int tag, int& sender, std::size_t& bytes) override {
    const std::lock_guard lock(network_->mutex);
    const auto found = find(from, tag);
    if (found == network_->messages.end()) return false;
    sender = found->from;
    bytes = found->bytes.size();
    return true;
  }

  void finish() override {
    const std::lock_guard lock(network_->mutex);
    network_->finished[static_cast<std::size_t>(rank_)] = true;
  }

 private:
  std::deque<Network::Message>::iterator find(int from, int tag) {
    return std::ranges::find_if(network_->messages, [&](const Network::Message& each) {
      return each.to == rank_ && each.tag == tag && (from == any || each.from == from);
    });
  }

  std::shared_ptr<Network> network_;
  int rank_, size_;
};

}  // namespace catena
