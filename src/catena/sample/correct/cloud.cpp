#include "catena/sample/correct/cloud.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace catena::sample {
namespace {

constexpr std::size_t most_modes = 8;  // of a posterior

}  // namespace

Matrix stacked_rows(const std::vector<const Matrix*>& parts) {
  std::size_t rows = 0;
  for (const Matrix* part : parts) rows += part->rows();
  Matrix all(rows, parts[0]->cols());
  double* to = all.data();
  for (const Matrix* part : parts) to = std::ranges::copy(part->values(), to).out;
  return all;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Modes ordered_modes(ConstMatrixView draws) {
  Modes found = find_modes(draws, most_modes), ordered;
  std::vector<std::size_t> order(found.all.size()), place(found.all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t k) { return found.all[k].weight; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    ordered.all.push_back(std::move(found.all[order[k]]));
    place[order[k]] = k;
  }
  for (const std::size_t k : found.of) ordered.of.push_back(place[k]);
  return ordered;
}

Matrix anchors_of(ConstMatrixView draws, const Modes& modes) {
  const std::vector<Piece> pieces = pieces_of(modes);
  Matrix anchors(pieces.size(), draws.cols);
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < draws.rows; ++r) {
      const double far = pieces[k].u(draws.row(r)).norm();
      if (far < least) least = far, nearest = r;
    }
    std::ranges::copy(draws.row(nearest), anchors.row(k).begin());
  }
  return anchors;
}

Cloud cloud_of(Matrix z, double width, ConstMatrixView draws, const Modes& modes) {
  const std::vector<Piece> pieces = pieces_of(modes);
  Cloud cloud{std::move(z), width, {}, anchors_of(draws, modes)};
  std::vector<std::vector<std::size_t>> rows(pieces.size());
  for (std::size_t r = 0; r < cloud.z.rows(); ++r) rows[piece_of(pieces, cloud.z.row(r))].push_back(r);
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const double weight = static_cast<double>(rows[k].size()) / static_cast<double>(cloud.z.rows());
    const CloudShape shape = rows[k].size() > 2 * cloud.z.cols()
                                 ? CloudShape(rows_of(cloud.z, rows[k]))
                                 : CloudShape(modes.all[k].shape.mean, width * width * modes.all[k].shape.lower *
                                                                           modes.all[k].shape.lower.transpose());
    cloud.modes.all.push_back({std::max(weight, 1e-6), shape});
  }
  const std::vector<Piece> own = pieces_of(cloud.modes);
  for (std::size_t r = 0; r < cloud.z.rows(); ++r) cloud.modes.of.push_back(piece_of(own, cloud.z.row(r)));
  return cloud;
}

Cloud widened(ConstMatrixView draws, const Modes& modes, double width, Stream stream) {
  std::vector<std::vector<std::size_t>> members(modes.all.size());
  for (std::size_t r = 0; r < draws.rows; ++r) members[modes.of[r]].push_back(r);
  const double more = std::sqrt(width * width - 1);
  Matrix z(cloud_points, draws.cols);
  Eigen::VectorXd normal(static_cast<Eigen::Index>(draws.cols));
  for (std::size_t i = 0; i < z.rows(); ++i) {
    const std::size_t mode = i % modes.all.size();
    const CloudShape& shape = modes.all[mode].shape;
    for (double& value : normal) value = stream.normal();
    const Eigen::VectorXd step = more * (shape.lower * normal);
    for (std::size_t f = 0; f < draws.cols; ++f) {
      const double from = members[mode].empty() ? shape.mean[static_cast<Eigen::Index>(f)]
                                                : draws(members[mode][i / modes.all.size() % members[mode].size()], f);
      z(i, f) = from + step[static_cast<Eigen::Index>(f)];
    }
  }
  return cloud_of(std::move(z), width, draws, modes);
}

}  // namespace catena::sample
