#include "catena/sample/correct/law.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr std::size_t block_rows = 4096;
constexpr std::size_t pairs_per_coefficient = 10;  // fewer than this and a basis is not tried
/// What a candidate must be better by, in log evidence: the claim about the one mode and a low degree are more
/// likely right.
constexpr double without_claims = 5, higher_degree = 2;

constexpr double noise_of_means = 0.5;  // whitened statistics have variance 1, means of two of them ½
constexpr double least_noise = 0.4;
constexpr double least_between = 0.1;  // of the means' noise: less between records is not worth a second regression
constexpr double difference = 1e-6;    // of z, for slopes: the law is smooth and in double

/// The wall stands this many standard deviations of the cloud beyond where d normals reach, √d.
constexpr double wall = 3;

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// φ and y of a pair: its mean, less what is claimed. Returns the piece.
std::size_t row_of(const Basis& basis, const std::vector<LawClaim>& claims, const SimulatedPairs& pairs, std::size_t i,
                   Eigen::VectorXd& phi, Eigen::VectorXd& y) {
  const auto z = pairs.z.row(i);
  const std::size_t piece = basis.evaluate(z, {phi.data(), basis.per_piece()});
  y = 0.5 * (pairs.first.row(index(i)) + pairs.second.row(index(i))).transpose();
  if (!claims.empty()) y -= claims[piece].at(z);
  return piece;
}

/// Means over the pairs that begin with the same observed record.
struct RecordMeans {
  Eigen::MatrixXd phi, y;  // one record a row
  Eigen::VectorXd count;
};

RecordMeans record_means(const Basis& basis, const std::vector<LawClaim>& claims, const SimulatedPairs& pairs) {
  const std::size_t m = static_cast<std::size_t>(pairs.first.cols()), p = basis.per_piece();
  const Eigen::Index records = index(*std::ranges::max_element(pairs.record) + 1);
  RecordMeans means{Eigen::MatrixXd::Zero(records, index(basis.size())), Eigen::MatrixXd::Zero(records, index(m)),
                    Eigen::VectorXd::Zero(records)};
  Eigen::VectorXd phi(index(p)), y(index(m));
  for (std::size_t i = 0; i < pairs.z.rows(); ++i) {
    const Eigen::Index at = index(row_of(basis, claims, pairs, i, phi, y) * p), record = index(pairs.record[i]);
    means.phi.row(record).segment(at, index(p)) += phi.transpose();
    means.y.row(record) += y.transpose();
    means.count[record] += 1;
  }
  for (Eigen::Index r = 0; r < records; ++r) {
    if (means.count[r] == 0) continue;
    means.phi.row(r) /= means.count[r];
    means.y.row(r) /= means.count[r];
  }
  return means;
}

/// The mean of y given z differs between the observed records, with a variance of τ² = `between`·σ² beside the noise σ²
/// of a row. The law is that of the sum over just these records, so that their differences are no noise of it: rows are
/// drawn towards the mean over all records by θ_r = 1 − 1/√(1 + n_r τ²/σ²) of their own record's distance from it,
///
///   φ̃ = φ − a_r,  a_r = θ_r (φ̄_r − φ̄),  and y likewise
///
/// (generalised least squares for a random intercept, whose own mean is over the records that there are).
void take_records_out(RegressionSums& sums, const RecordMeans& means, double between) {
  const double seen = static_cast<double>((means.count.array() > 0).count());
  const Eigen::VectorXd phi_mean = means.phi.colwise().sum().transpose() / seen;
  const Eigen::VectorXd y_mean = means.y.colwise().sum().transpose() / seen;
  for (Eigen::Index r = 0; r < means.count.size(); ++r) {
    const double n = means.count[r];
    if (n == 0) continue;
    const double theta = 1 - 1 / std::sqrt(1 + n * between);
    const Eigen::VectorXd phi = means.phi.row(r).transpose(), y = means.y.row(r).transpose();
    const Eigen::VectorXd a = theta * (phi - phi_mean), b = theta * (y - y_mean);
    // Σ (φ − a)(φ − a)ᵀ = Σ φφᵀ − n (φ̄ aᵀ + a φ̄ᵀ − a aᵀ)
    sums.squares.selfadjointView<Eigen::Lower>().rankUpdate(phi, a, -n);
    sums.squares.selfadjointView<Eigen::Lower>().rankUpdate(a, n);
    sums.products += n * (a * (b - y).transpose() - phi * b.transpose());
    sums.response_squares += n * b.cwiseProduct(b - 2 * y);
  }
}

/// Sums over the pairs' means, in blocks that are added in their order.
RegressionSums sums_of(const Basis& basis, const std::vector<LawClaim>& claims, const SimulatedPairs& pairs,
                       double between, const Parallel& parallel) {
  const std::size_t n = pairs.z.rows(), m = static_cast<std::size_t>(pairs.first.cols()), p = basis.per_piece();
  const std::size_t blocks = (n + block_rows - 1) / block_rows;
  std::vector<RegressionSums> parts(blocks);
  parallel.for_blocks(n, block_rows, [&](std::size_t begin, std::size_t end, std::size_t block) {
    RegressionSums sums(basis.size(), m);
    Eigen::VectorXd phi(index(p)), y(index(m));
    for (std::size_t i = begin; i < end; ++i) {
      const Eigen::Index at = index(row_of(basis, claims, pairs, i, phi, y) * p);
      sums.squares.block(at, at, index(p), index(p)).selfadjointView<Eigen::Lower>().rankUpdate(phi);
      sums.products.middleRows(at, index(p)).noalias() += phi * y.transpose();
      sums.response_squares += y.cwiseAbs2();
      sums.rows += 1;
    }
    parts[block] = std::move(sums);
  });
  RegressionSums all(basis.size(), m);
  for (const RegressionSums& part : parts) all.add(part);
  if (between > 0) take_records_out(all, record_means(basis, claims, pairs), between);
  return all;
}

struct Candidate {
  std::vector<Piece> pieces;
  int degree;
  std::vector<LawClaim> claims;
};

}  // namespace

NormalLaw::NormalLaw(const SimulatedPairs& pairs, const Modes& modes, std::span<const LawClaim> claims,
                     std::size_t records, int highest_degree, const Parallel& parallel)
    : records_(records), cloud_(pieces_of(modes)) {
  CATENA_ASSERT(pairs.z.rows() > 1 && static_cast<std::size_t>(pairs.first.rows()) == pairs.z.rows());
  choose(pairs, claims, highest_degree, 0, parallel);
  const double between = regression_.residual_variance / noise_of_means - 1;
  if (!pairs.record.empty() && between > least_between) choose(pairs, claims, highest_degree, between, parallel);
  const Eigen::MatrixXd half = (pairs.first - pairs.second) / std::sqrt(2.0);
  variance_ = VarianceModel(cloud_.size() == 1 ? cloud_[0] : along_axes(pairs.z), pairs.z, half);
}

void NormalLaw::choose(const SimulatedPairs& pairs, std::span<const LawClaim> claims, int highest_degree,
                       double between, const Parallel& parallel) {
  const CloudShape whole(pairs.z);
  const std::vector<Piece> together = pieces_of({.all = {{.weight = 1, .shape = whole}}, .of = {}});
  const bool one_mode = cloud_.size() == 1;
  std::vector<Candidate> candidates;
  for (int degree = 1; degree <= highest_degree; ++degree) {
    // Pieces beside each other must not bend: between two of them a high degree finds what is not there.
    if (one_mode || degree <= 2) candidates.push_back({cloud_, degree, {claims.begin(), claims.end()}});
    if (!one_mode && degree > 1) candidates.push_back({together, degree, {}});
    if (degree > 1) candidates.push_back({{along_axes(pairs.z)}, degree, {}});
  }
  double most = -std::numeric_limits<double>::infinity();
  for (Candidate& candidate : candidates) {
    Basis basis(std::move(candidate.pieces), candidate.degree);
    if (candidate.degree > 1 && pairs.z.rows() < pairs_per_coefficient * basis.size()) continue;
    std::vector<bool> kept(basis.size());
    for (std::size_t k = 0; k < kept.size(); ++k) kept[k] = basis.constant(k);
    Regression fit = fit_regression(sums_of(basis, candidate.claims, pairs, between, parallel), kept, least_noise);
    const double evidence = fit.evidence - (one_mode && candidate.claims.empty() ? without_claims : 0) -
                            higher_degree * static_cast<double>(candidate.degree - 1);
    if (!(evidence > most)) continue;
    most = evidence;
    basis_ = std::move(basis);
    claims_ = std::move(candidate.claims);
    regression_ = std::move(fit);
  }
  CATENA_ASSERT(basis_.size() > 0);
}

Eigen::VectorXd NormalLaw::mean(std::span<const double> z) const {
  const std::size_t p = basis_.per_piece();
  Eigen::VectorXd phi(index(p));
  const std::size_t piece = basis_.evaluate(z, {phi.data(), p});
  Eigen::VectorXd found = regression_.coefficients.middleRows(index(piece * p), index(p)).transpose() * phi;
  if (!claims_.empty()) found += claims_[piece].at(z);
  return found;
}

double NormalLaw::noise(std::span<const double> z) const {
  const std::size_t p = basis_.per_piece();
  Eigen::VectorXd phi(index(p));
  const Eigen::Index at = index(basis_.evaluate(z, {phi.data(), p}) * p);
  return phi.dot(regression_.covariance.block(at, at, index(p), index(p)) * phi);
}

Eigen::MatrixXd NormalLaw::slope(std::span<const double> z, Stream* stream) const {
  const std::size_t p = basis_.per_piece(), piece = piece_of(basis_.pieces(), z);
  const Eigen::Index at = index(piece * p), m = regression_.coefficients.cols();
  Eigen::MatrixXd coefficients = regression_.coefficients.middleRows(at, index(p));
  if (stream != nullptr) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(regression_.covariance.block(at, at, index(p), index(p)));
    const Eigen::MatrixXd normals = Eigen::MatrixXd::NullaryExpr(index(p), m, [&] { return stream->normal(); });
    coefficients += axes.eigenvectors() * axes.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * normals;
  }
  std::vector<double> point(z.begin(), z.end());
  Eigen::VectorXd above(index(p)), below(index(p));
  Eigen::MatrixXd result(m, index(z.size()));
  for (std::size_t i = 0; i < z.size(); ++i) {
    point[i] = z[i] + difference;
    basis_.evaluate(point, {above.data(), p});
    point[i] = z[i] - difference;
    basis_.evaluate(point, {below.data(), p});
    point[i] = z[i];
    result.col(index(i)) = coefficients.transpose() * (above - below) / (2 * difference);
  }
  if (!claims_.empty()) result += claims_[piece].slope;
  return result;
}

double NormalLaw::distance(std::span<const double> z) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Piece& piece : cloud_) nearest = std::min(nearest, piece.u(z).norm());
  return nearest;
}

double NormalLaw::log_density(std::span<const double> z, const Eigen::VectorXd& s) const {
  const auto records = static_cast<double>(records_);
  const double factor = records * (1 + records * noise(z));
  const double beyond = std::max(0.0, distance(z) - std::sqrt(static_cast<double>(z.size())) - wall);
  return variance_.log_density(z, s - records * mean(z), factor) - 10 * beyond * beyond;
}

double LawTarget::at(std::span<const double> z) const {
  const double weight = which_ == LawPrior::truth ? prior_.log_weight(z) : 0;
  return log_prior(z) + weight + law_.log_density(z, s_);
}

void LawTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  parallel_.for_blocks(z.rows, 16, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) out[i] = at(z.row(i));
  });
}

void LawTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  parallel_.for_blocks(z.rows, 4, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      std::vector<double> point(z.row(i).begin(), z.row(i).end());
      out[i] = at(point);
      for (std::size_t f = 0; f < z.cols; ++f) {
        const double middle = point[f];
        point[f] = middle + difference;
        const double above = at(point);
        point[f] = middle - difference;
        gradient(i, f) = (above - at(point)) / (2 * difference);
        point[f] = middle;
      }
    }
  });
}

}  // namespace catena::sample
