/// A registry: a fixed list of named entries, written down in one place. The command line, Python, the tests and the
/// docs find what exists by walking it, so that a new entry is one file and one line.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/check.h"

namespace catena {

/// Entry must have a member `name` that converts to std::string_view.
template <class Entry>
class Registry {
 public:
  /// Two entries of one name are a bug of ours: the second could never be reached.
  Registry(std::string kind, std::vector<Entry> entries) : kind_(std::move(kind)), entries_(std::move(entries)) {
    for (const Entry& entry : entries_) CATENA_ASSERT(find(entry.name) == &entry);
  }

  /// "task", "rule", "sampler", ….
  std::string_view kind() const { return kind_; }
  std::span<const Entry> entries() const { return entries_; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (std::string_view(entry.name) == name) return &entry;
    }
    return nullptr;
  }

  /// The entry of that name, or the sentence "FUNCTION: KIND is NAME, but must be one of a, b, c".
  const Entry& at(std::string_view function, std::string_view name) const {
    if (const Entry* entry = find(name)) return *entry;
    throw InputError(
        fmt::format("{}: {} is \"{}\", but must be one of {}", function, kind_, name, fmt::join(names(), ", ")));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Entry& entry : entries_) result.emplace_back(std::string_view(entry.name));
    return result;
  }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace catena
