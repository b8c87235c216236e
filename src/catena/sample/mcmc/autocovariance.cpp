#include "catena/sample/mcmc/autocovariance.h"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace catena::sample {
namespace {

using Complex = std::complex<double>;

/// From here on a transform costs less than the sums up to the lag at which slow chains end.
constexpr std::size_t short_lags = 64;

/// The discrete Fourier transform of 2^k values, in place: Cooley and Tukey's, without the factor 1/n.
class Transform {
 public:
  explicit Transform(std::size_t size) : roots_(size / 2) {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      roots_[i] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size));
    }
  }

  void operator()(std::vector<Complex>& x) const {
    const std::size_t n = x.size();
    for (std::size_t i = 1, j = 0; i < n; ++i) {  // the order of reversed bits
      std::size_t bit = n >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (std::size_t half = 1; half < n; half *= 2) {
      const std::size_t stride = n / (2 * half);
      for (std::size_t begin = 0; begin < n; begin += 2 * half) {
        for (std::size_t k = 0; k < half; ++k) {
          Complex& a = x[begin + k];
          Complex& b = x[begin + k + half];
          // By hand: the product of std::complex looks for NaN and infinities.
          const Complex w = roots_[k * stride];
          const Complex turned(w.real() * b.real() - w.imag() * b.imag(), w.real() * b.imag() + w.imag() * b.real());
          b = a - turned;
          a += turned;
        }
      }
    }
  }

 private:
  std::vector<Complex> roots_;
};

}  // namespace

double Autocovariances::operator()(std::size_t lag) {
  if (lag < short_lags) return summed(lag);
  if (all_.empty()) all_ = transformed();
  return all_[lag];
}

double Autocovariances::summed(std::size_t lag) const {
  const std::size_t n = chains_->cols();
  double mean = 0;
  for (std::size_t c = 0; c < chains_->rows(); ++c) {
    const auto row = chains_->row(c);
    double sum = 0;
    for (std::size_t i = 0; i + lag < n; ++i) sum += (row[i] - means_[c]) * (row[i + lag] - means_[c]);
    mean += sum / static_cast<double>(n) / static_cast<double>(chains_->rows());
  }
  return mean;
}

std::vector<double> Autocovariances::transformed() const {
  const std::size_t n = chains_->cols(), rows = chains_->rows();
  const std::size_t size = std::bit_ceil(2 * n);  // zeros after each chain: no lag wraps around
  const Transform transform(size);
  // With two chains as real and imaginary part, the mean of |F(x + iy)|² at f and −f is |F x|² + |F y|².
  std::vector<Complex> pair(size), power(size);
  for (std::size_t c = 0; c < rows; c += 2) {
    for (std::size_t i = 0; i < size; ++i) {
      const double first = i < n ? (*chains_)(c, i) - means_[c] : 0;
      const double second = i < n && c + 1 < rows ? (*chains_)(c + 1, i) - means_[c + 1] : 0;
      pair[i] = {first, second};
    }
    transform(pair);
    for (std::size_t f = 0; f < size; ++f) {
      power[f] += 0.5 * (std::norm(pair[f]) + std::norm(pair[(size - f) % size]));
    }
  }
  transform(power);  // of a real and even sequence: its own inverse but for the factor
  std::vector<double> result(n);
  for (std::size_t k = 0; k < n; ++k) {
    result[k] = power[k].real() / static_cast<double>(size) / static_cast<double>(n) / static_cast<double>(rows);
  }
  return result;
}

}  // namespace catena::sample
