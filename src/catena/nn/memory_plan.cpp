#include "catena/nn/memory_plan.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/nn/operation.h"

namespace catena::nn {

std::size_t Arena::take(std::size_t floats) {
  const std::size_t offset = size_;
  size_ += padded_lanes(floats);
  return offset;
}

std::size_t Arena::take_until(std::size_t floats, std::size_t from, std::size_t until) {
  for (; !expiries_.empty() && expiries_.top().until < from; expiries_.pop()) {
    ++visits_;
    const Expiry expiry = expiries_.top();
    const Piece& piece = pieces_[expiry.piece];
    if (piece.until == expiry.until) free_[piece.floats].push(expiry.piece);
  }
  ++visits_;
  auto& free = free_[padded_lanes(floats)];
  std::size_t index = pieces_.size();
  if (free.empty()) {
    pieces_.push_back({take(floats), padded_lanes(floats), until});
    piece_at_[pieces_.back().offset] = index;
  } else {
    index = free.top();
    free.pop();
    pieces_[index].until = until;
  }
  expiries_.push({until, index});
  return pieces_[index].offset;
}

void Arena::keep_until(std::size_t offset, std::size_t until) {
  ++visits_;
  const auto found = piece_at_.find(offset);
  CATENA_ASSERT(found != piece_at_.end());
  Piece& piece = pieces_[found->second];
  if (until <= piece.until) return;
  piece.until = until;
  expiries_.push({until, found->second});
}

void Arena::forget() {
  pieces_.clear();
  piece_at_.clear();
  expiries_ = {};
  free_.clear();
}

std::size_t lane_stride(std::size_t lanes) {
  const std::size_t lines = padded_lanes(lanes) / 16;
  return 16 * (lines | 1);
}

namespace {

/// Where a value lies inside another that joins its inputs (Traits::joins_inputs).
struct Inside {
  int whole = -1;  // none
  std::size_t first_feature = 0;
};

bool joins_inputs(const Node& node) { return node.operation != nullptr && node.operation->traits.joins_inputs; }

std::vector<Inside> places_inside(std::span<const Node> nodes) {
  std::vector<int> uses(nodes.size(), 0);
  for (const Node& node : nodes) {
    for (const int input : node.inputs) ++uses[static_cast<std::size_t>(input)];
  }
  std::vector<Inside> inside(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!joins_inputs(nodes[i])) continue;
    std::size_t feature = 0;
    for (const int input : nodes[i].inputs) {
      const auto k = static_cast<std::size_t>(input);
      // One level only: a concatenation within another is copied.
      const bool computed = nodes[k].operation != nullptr && !joins_inputs(nodes[k]);
      if (computed && uses[k] == 1) inside[k] = {static_cast<int>(i), feature};
      feature += nodes[k].features();
    }
  }
  return inside;
}

/// The nodes, sorted by the node that uses them last.
class LastUses {
 public:
  explicit LastUses(std::span<const Node> nodes) : last_(nodes.size(), nodes.size()), begin_(nodes.size() + 2, 0) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const int input : nodes[i].inputs) last_[static_cast<std::size_t>(input)] = i;
    }
    for (const std::size_t user : last_) ++begin_[user + 1];
    for (std::size_t user = 0; user <= nodes.size(); ++user) begin_[user + 1] += begin_[user];
    sorted_.resize(nodes.size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) sorted_[next[last_[i]]++] = i;
  }

  /// The last node that uses node i; the number of nodes if none does: it is a result then, and stays.
  std::size_t of(std::size_t i) const { return last_[i]; }
  bool is_result(std::size_t i) const { return last_[i] == last_.size(); }
  /// In ascending order.
  std::span<const std::size_t> by(std::size_t user) const {
    return std::span(sorted_).subspan(begin_[user], begin_[user + 1] - begin_[user]);
  }

 private:
  std::vector<std::size_t> last_, begin_, sorted_;
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, std::size_t lanes, const MemoryNeeds& needs) {
  const auto nodes = graph.nodes();
  const std::size_t count = nodes.size();
  // Who is alive when: a value from its node to its last consumer, a gradient from the last consumer back to its node.
  const LastUses last_uses(nodes);
  const std::vector<Inside> inside = places_inside(nodes);
  std::vector<std::size_t> begins(count);  // when a value's memory is first written: for a whole, with its first part
  for (std::size_t i = count; i-- > 0;) {
    begins[i] = i;
    for (const int input : nodes[i].inputs) {
      if (inside[static_cast<std::size_t>(input)].whole == static_cast<int>(i)) {
        begins[i] = std::min(begins[i], static_cast<std::size_t>(input));
      }
    }
  }

  Arena arena;
  MemoryPlan plan;
  for (auto* offsets : {&plan.values, &plan.gradients, &plan.tangents, &plan.saved}) offsets->resize(count);
  std::size_t scratch = 0, scratch_rows = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t stride = lane_stride(nodes[i].lanes.count(lanes));
    const auto take_value = [&](std::size_t node) {
      const bool stays = needs.all_values || nodes[node].operation == nullptr || last_uses.is_result(node);
      const std::size_t floats = nodes[node].features() * stride;
      plan.values[node] = stays ? arena.take(floats) : arena.take_until(floats, i, last_uses.of(node));
    };
    if (inside[i].whole >= 0) {
      const auto whole = static_cast<std::size_t>(inside[i].whole);
      if (begins[whole] == i) take_value(whole);
      plan.values[i] = plan.values[whole] + inside[i].first_feature * stride;
    } else if (begins[i] == i) {
      take_value(i);
    }
    plan.tangents[i] = arena.take(needs.tangents[i] ? nodes[i].features() * stride : 0);
    plan.saved[i] = arena.take(needs.derivatives ? nodes[i].saved_features * stride : 0);
    scratch = std::max(scratch, nodes[i].scratch);
    scratch_rows = std::max(scratch_rows, nodes[i].scratch_features * stride);
  }
  arena.forget();

  for (std::size_t i = count; i-- > 0;) {
    if (!needs.gradients[i] || (nodes[i].operation != nullptr && !last_uses.is_result(i))) continue;
    plan.gradients[i] = arena.take(nodes[i].features() * lane_stride(nodes[i].lanes.count(lanes)));
  }
  // In place, a gradient needs no memory of its own that a store would have to wait for. Not where the caller wrote the
  // output's gradient, who may want to use it again, and not within a whole's.
  const auto takes_the_place = [&](std::size_t i, std::size_t user) {
    const Node& node = nodes[user];
    return node.operation->traits.reverse_in_place && std::ranges::count(node.inputs, static_cast<int>(i)) == 1 &&
           node.inputs[0] == static_cast<int>(i) && nodes[i].features() == node.features() &&
           nodes[i].lanes == node.lanes && !last_uses.is_result(user) && inside[user].whole < 0;
  };
  // The reverse pass runs backwards, on the clock count − i: first written when its last consumer is replayed.
  for (std::size_t user = count; user-- > 0;) {
    for (const std::size_t i : last_uses.by(user)) {
      if (!needs.gradients[i] || nodes[i].operation == nullptr) continue;
      const std::size_t stride = lane_stride(nodes[i].lanes.count(lanes));
      if (inside[i].whole >= 0) {
        plan.gradients[i] = plan.gradients[user] + inside[i].first_feature * stride;  // the whole's came first
      } else if (takes_the_place(i, user)) {
        plan.gradients[i] = plan.gradients[user];
        arena.keep_until(plan.gradients[i], count - begins[i]);
      } else {
        plan.gradients[i] = arena.take_until(nodes[i].features() * stride, count - user, count - begins[i]);
      }
    }
  }
  plan.scratch = arena.take(scratch);
  plan.scratch_rows = arena.take(scratch_rows);
  plan.size = arena.size();
  plan.visits = arena.visits();
  return plan;
}

}  // namespace catena::nn
