/// Arrays: a matrix of doubles outside networks, a lane block of floats inside them. Functions take the views; the
/// owning types are for whoever keeps the memory. All owning memory is 64-byte aligned.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace catena {

inline constexpr std::size_t alignment = 64;  // one cache line, one AVX-512 vector

/// Allocator for std::vector with 64-byte aligned memory.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignment))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(alignment)); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// A row-major matrix that somebody else owns: rows × cols, row r at data + r·stride.
template <class T>
struct BasicMatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;

  BasicMatrixView() = default;
  BasicMatrixView(T* values, std::size_t row_count, std::size_t col_count, std::size_t row_stride)
      : data(values), rows(row_count), cols(col_count), stride(row_stride) {}
  BasicMatrixView(T* values, std::size_t row_count, std::size_t col_count)
      : BasicMatrixView(values, row_count, col_count, col_count) {}
  /// A view to read from a view to write.
  template <class U>
    requires(std::is_same_v<T, const U>)
  BasicMatrixView(BasicMatrixView<U> other) : BasicMatrixView(other.data, other.rows, other.cols, other.stride) {}

  T& operator()(std::size_t r, std::size_t c) const { return data[r * stride + c]; }
  std::span<T> row(std::size_t r) const { return {data + r * stride, cols}; }
  BasicMatrixView slice_rows(std::size_t begin, std::size_t end) const {
    return {data + begin * stride, end - begin, cols, stride};
  }
  bool contiguous() const { return stride == cols; }
};

using MatrixView = BasicMatrixView<double>;
using ConstMatrixView = BasicMatrixView<const double>;

/// Features × lanes: one sample per lane, lanes contiguous. Feature f of lane l stands at data[f·stride + l]; the
/// stride is a multiple of 16 floats, so that every feature starts on a vector boundary and vectors may run past
/// `lanes` up to the stride (padding: readable, writable, meaningless).
template <class T>
struct BasicBlock {
  T* data = nullptr;
  std::size_t features = 0;
  std::size_t lanes = 0;
  std::size_t stride = 0;

  BasicBlock() = default;
  BasicBlock(T* values, std::size_t feature_count, std::size_t lane_count, std::size_t lane_stride)
      : data(values), features(feature_count), lanes(lane_count), stride(lane_stride) {}
  template <class U>
    requires(std::is_same_v<T, const U>)
  BasicBlock(BasicBlock<U> other) : BasicBlock(other.data, other.features, other.lanes, other.stride) {}

  T* feature(std::size_t f) const { return data + f * stride; }
  T& operator()(std::size_t f, std::size_t l) const { return data[f * stride + l]; }
  BasicBlock slice_features(std::size_t begin, std::size_t end) const {
    return {data + begin * stride, end - begin, lanes, stride};
  }
};

using Block = BasicBlock<float>;
using ConstBlock = BasicBlock<const float>;

/// Lane counts are rounded up to whole 64-byte vectors of floats.
constexpr std::size_t padded_lanes(std::size_t lanes) { return (lanes + 15) / 16 * 16; }

/// rows · cols, or std::length_error where the product does not fit: sizes may come from files.
constexpr std::size_t element_count(std::size_t rows, std::size_t cols) {
  if (cols != 0 && rows > std::size_t(-1) / cols) throw std::length_error("an array of this size cannot exist");
  return rows * cols;
}

/// An owning matrix of doubles, zero at first.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), values_(element_count(rows, cols), 0.0) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }
  double& operator()(std::size_t r, std::size_t c) { return values_[r * cols_ + c]; }
  double operator()(std::size_t r, std::size_t c) const { return values_[r * cols_ + c]; }
  std::span<double> row(std::size_t r) { return {data() + r * cols_, cols_}; }
  std::span<const double> row(std::size_t r) const { return {data() + r * cols_, cols_}; }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }
  MatrixView view() { return {data(), rows_, cols_}; }
  ConstMatrixView view() const { return {data(), rows_, cols_}; }
  operator MatrixView() { return view(); }
  operator ConstMatrixView() const { return view(); }
  bool operator==(const Matrix&) const = default;

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  AlignedVector<double> values_;
};

/// An owning lane block, zero at first.
class LaneBlock {
 public:
  LaneBlock() = default;
  LaneBlock(std::size_t features, std::size_t lanes)
      : features_(features), lanes_(lanes), values_(element_count(features, padded_lanes(lanes)), 0.0F) {}

  std::size_t features() const { return features_; }
  std::size_t lanes() const { return lanes_; }
  Block view() { return {values_.data(), features_, lanes_, padded_lanes(lanes_)}; }
  ConstBlock view() const { return {values_.data(), features_, lanes_, padded_lanes(lanes_)}; }
  operator Block() { return view(); }
  operator ConstBlock() const { return view(); }
  float& operator()(std::size_t f, std::size_t l) { return values_[f * padded_lanes(lanes_) + l]; }
  float operator()(std::size_t f, std::size_t l) const { return values_[f * padded_lanes(lanes_) + l]; }

 private:
  std::size_t features_ = 0;
  std::size_t lanes_ = 0;
  AlignedVector<float> values_;
};

}  // namespace catena
