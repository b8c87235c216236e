/// Numbers, arrays and texts as bytes, for messages between ranks of one program (ranks.h): written and read in the
/// same order, by the same program, so nothing says what comes next.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "catena/core/check.h"

namespace catena {

class BytesWriter {
 public:
  template <class T>
  BytesWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  template <class T>
  BytesWriter& put_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    return *this;
  }
  BytesWriter& put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_.append(text);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value{};
    const std::string_view piece = next(sizeof(T));
    std::memcpy(&value, piece.data(), piece.size());
    return value;
  }
  template <class T>
  void get_all(std::span<T> values) {
    if (!values.empty()) std::memcpy(values.data(), next(values.size_bytes()).data(), values.size_bytes());
  }
  std::string_view get_text() { return next(get<std::uint64_t>()); }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view next(std::size_t count) {
    CATENA_ASSERT(count <= bytes_.size());
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  std::string_view bytes_;
};

}  // namespace catena
