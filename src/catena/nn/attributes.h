/// Constants of one node by name (what a slice begins at, the stride of a convolution), and what the node's operation
/// makes of them. Names are looked up once, when the graph is recorded; a replay reads the operation's own type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "catena/core/check.h"

namespace catena::nn {

struct Attribute {
  std::string name;
  double value;

  template <class Number>
    requires(std::is_arithmetic_v<Number>)
  Attribute(std::string_view attribute, Number number) : name(attribute), value(static_cast<double>(number)) {}
};

/// Attributes{{"begin", 3}, {"end", 5}}
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attribute> list) : list_(list) {}

  std::span<const Attribute> all() const { return list_; }
  /// The number of that name; Graph::apply() has checked that it is there.
  double at(std::string_view name) const {
    const auto found = std::ranges::find(list_, name, &Attribute::name);
    CATENA_ASSERT(found != list_.end());
    return found->value;
  }
  std::size_t size_at(std::string_view name) const { return static_cast<std::size_t>(at(name)); }

 private:
  std::vector<Attribute> list_;
};

/// What an operation's functions read at every replay, in a type of the operation's own: its shape rule fills it from
/// attributes and shapes. Memory inside the node, so that a replay follows no pointer to it.
class Resolved {
 public:
  template <class T>
  void set(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(bytes_) && alignof(T) <= alignof(double));
    std::memcpy(bytes_, &value, sizeof value);
    type_ = &type_of<T>;
  }
  template <class T>
  const T& as() const {
    CATENA_ASSERT(type_ == &type_of<T>);
    return *std::launder(reinterpret_cast<const T*>(bytes_));
  }

 private:
  template <class T>
  static constexpr char type_of = 0;  // its address tells types apart

  alignas(double) unsigned char bytes_[80] = {};  // as much as a convolution needs
  const char* type_ = nullptr;
};

}  // namespace catena::nn
