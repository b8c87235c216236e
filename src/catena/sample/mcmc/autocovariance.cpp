#include "catena/sample/mcmc/autocovariance.h"

#include <bit>
#include <complex>
#include <unsupported/Eigen/FFT>

namespace catena::sample {
namespace {

/// From here on a transform costs less than the sums up to the lag at which slow chains end.
constexpr std::size_t short_lags = 64;

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
  Eigen::FFT<double> transform;
  transform.SetFlag(Eigen::FFT<double>::HalfSpectrum);  // a real sequence has a conjugate-symmetric spectrum
  std::vector<double> chain(size);
  std::vector<std::complex<double>> spectrum, power(size / 2 + 1);
  for (std::size_t c = 0; c < rows; ++c) {
    for (std::size_t i = 0; i < n; ++i) chain[i] = (*chains_)(c, i) - means_[c];
    transform.fwd(spectrum, chain);
    for (std::size_t f = 0; f < power.size(); ++f) power[f] += std::norm(spectrum[f]);
  }
  std::vector<double> result(size);
  transform.inv(result, power, static_cast<Eigen::Index>(size));
  result.resize(n);
  for (double& value : result) value /= static_cast<double>(n) * static_cast<double>(rows);
  return result;
}

}  // namespace catena::sample
