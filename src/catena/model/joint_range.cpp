#include "catena/model/joint_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catena/core/errors.h"

namespace catena::model {
namespace {

constexpr std::size_t most_centres = 512, most_numbers = 4096;  // of the file: 30 kB of text
constexpr std::size_t most_features = 32;                       // beyond, distances say nothing
constexpr std::size_t fewest_records = 100;                     // fewer do not show where a set is sparse
constexpr std::size_t most_looked_at = 20000;                   // records that the limit is found from
constexpr std::size_t neighbour = 5;
constexpr double least_radius = 1e-3;  // standard deviations: equal records are no range of width zero

/// Four digits after the point are enough for distances in standard deviations, and short in a file.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

JointRange::JointRange(const Matrix& c) {
  if (c.rows() < fewest_records || c.cols() < 1 || c.cols() > most_features) return;
  const std::size_t count = std::min({most_centres, most_numbers / c.cols(), c.rows() / 2});
  centres_ = Matrix(count, c.cols());
  for (std::size_t k = 0; k < count; ++k) {
    std::ranges::transform(c.row(k * c.rows() / count), centres_.row(k).begin(), rounded);
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double> distances;
    for (std::size_t j = 0; j < count; ++j) distances.push_back(distance(centres_.row(k), centres_.row(j)));
    std::ranges::nth_element(distances, distances.begin() + neighbour);  // itself is the nearest
    radius_.push_back(std::max(least_radius, rounded(distances[neighbour])));
  }
  const std::size_t looked_at = std::min(most_looked_at, c.rows());
  for (std::size_t i = 0; i < looked_at; ++i) {
    limit_ = std::max(limit_, nearest(c.row(i * c.rows() / looked_at)).remoteness);
  }
}

JointRange::Nearest JointRange::nearest(std::span<const double> c) const {
  Nearest best{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t k = 0; k < centres_.rows(); ++k) {
    const double d = distance(c, centres_.row(k));
    if (d / radius_[k] < best.remoteness) best = {d / radius_[k], d};
  }
  return best;
}

double JointRange::excess(std::span<const double> c) const {
  if (!known()) return 0;
  const Nearest found = nearest(c);
  return found.remoteness > limit_ ? found.distance * (1 - limit_ / found.remoteness) : 0;
}

nlohmann::json JointRange::to_json() const {
  nlohmann::json json = {{"radius", radius_}, {"limit", limit_}, {"centres", nlohmann::json::array()}};
  for (std::size_t k = 0; k < centres_.rows(); ++k) {
    json["centres"].push_back(std::vector<double>(centres_.row(k).begin(), centres_.row(k).end()));
  }
  return json;
}

JointRange JointRange::from_json(const std::string& source, const nlohmann::json& json, std::size_t features) {
  JointRange range;
  try {
    const auto centres = json.at("centres").get<std::vector<std::vector<double>>>();
    json.at("radius").get_to(range.radius_);
    json.at("limit").get_to(range.limit_);
    bool right = centres.size() == range.radius_.size() && centres.size() <= most_centres && range.limit_ >= 0;
    for (const double radius : range.radius_) right = right && radius > 0;
    for (const auto& centre : centres) right = right && centre.size() == features;
    if (!right) throw FileError(fmt::format("{}: its features are not those of a model", source));
    range.centres_ = Matrix(centres.size(), features);
    for (std::size_t k = 0; k < centres.size(); ++k) std::ranges::copy(centres[k], range.centres_.row(k).begin());
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{}: its features are not those of a model", source));
  }
  return range;
}

}  // namespace catena::model
