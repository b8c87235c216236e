#include "catena/simulate/whole_series/series_set.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "catena/core/check.h"
#include "catena/files/json.h"
#include "catena/files/netcdf/netcdf.h"

namespace catena::simulate {

namespace {

constexpr std::string_view series_kind = "series";
constexpr int series_format_version = 1;

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

/// Whatever the group lacks or has of another kind or size is the file's fault.
class SeriesGroup {
 public:
  SeriesGroup(const std::filesystem::path& path, const files::Group& group) : path_(path.string()), group_(group) {}

  void require(bool right, std::string_view sentence) const {
    if (!right) throw FileError(fmt::format("{}: {}", path_, sentence));
  }
  std::string text(const std::string& name) const {
    const auto found = group_.attributes.find(name);
    require(found != group_.attributes.end() && found->second.is_string(),
            fmt::format("has no text attribute \"{}\": is it a file of series?", name));
    return found->second.get<std::string>();
  }
  template <class T>
  std::vector<T> values(std::string_view name, std::size_t count) const {
    require(group_.contains(name), fmt::format("has no variable \"{}\"", name));
    const auto* found = std::get_if<std::vector<T>>(&group_.variable(name).values);
    require(found != nullptr && found->size() == count, fmt::format("its \"{}\" is of another kind or size", name));
    return *found;
  }
  std::size_t dimension(std::string_view name) const {
    const auto found = std::ranges::find(group_.dimensions, name, &files::Dimension::name);
    require(found != group_.dimensions.end(), fmt::format("has no dimension \"{}\"", name));
    return found->size;
  }

 private:
  std::string path_;
  const files::Group& group_;
};

}  // namespace

SeriesView SeriesSet::series(std::size_t record) const {
  const std::size_t begin = offsets[record], rows = length(record);
  return {.states = {states.data() + begin * state_names.size(), rows, state_names.size()},
          .times = {times.data() + begin, rows},
          .names = state_names};
}

void SeriesSet::add(std::span<const double> theta_of_record, const SeriesView& one) {
  constexpr std::string_view function = "series set";
  const std::size_t rows = one.states.rows;
  check::equal(function, "the number of parameters", theta_of_record.size(), prior.size());
  if (rows > 0) check::equal(function, "the number of states", one.states.cols, state_names.size());
  if (!one.times.empty()) check::equal(function, "the number of times", one.times.size(), rows);
  check::that(one.covariates.cols == 0, function, "the table of covariates of a series", "given",
              "left out: a set of whole series does not hold them");
  bool finite = all_finite(theta_of_record) && all_finite(one.times);
  for (std::size_t r = 0; r < rows; ++r) finite = finite && all_finite(one.states.row(r));
  check::that(finite, function, "a record", "one with numbers that are not finite", "finite");
  theta.insert(theta.end(), theta_of_record.begin(), theta_of_record.end());
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span<const double> row = one.states.row(r);
    states.insert(states.end(), row.begin(), row.end());
    times.push_back(one.time(r));
  }
  offsets.push_back(offsets.back() + rows);
}

std::vector<std::size_t> lengths_of(const SeriesSet& set, std::span<const std::size_t> records) {
  std::vector<std::size_t> lengths;
  for (const std::size_t record : records) lengths.push_back(set.length(record));
  return lengths;
}

void pack(const SeriesSet& set, std::span<const std::size_t> records, Block to) {
  const std::size_t n = set.state_names.size();
  CATENA_ASSERT(records.size() == to.lanes);
  for (std::size_t l = 0; l < records.size(); ++l) {
    CATENA_ASSERT(set.length(records[l]) * n <= to.features);
    const double* from = set.states.data() + set.offsets[records[l]] * n;
    const std::size_t used = set.length(records[l]) * n;
    for (std::size_t f = 0; f < to.features; ++f) to(f, l) = f < used ? static_cast<float>(from[f]) : 0.0F;
  }
}

void write_series_set(const std::filesystem::path& path, const SeriesSet& set) {
  std::vector<std::int64_t> row_size;
  for (std::size_t r = 0; r < set.size(); ++r) row_size.push_back(static_cast<std::int64_t>(set.length(r)));
  files::Group root;
  root.dimensions = {{"series", set.size()},
                     {"observation", set.offsets.back()},
                     {"parameter", set.prior.size()},
                     {"state", set.state_names.size()}};
  root.variables = {{"parameter", {"parameter"}, set.prior.names()},
                    {"state", {"state"}, set.state_names},
                    {"theta", {"series", "parameter"}, set.theta, {{"long_name", "parameters of the series"}}},
                    {"row_size",
                     {"series"},
                     std::move(row_size),
                     {{"long_name", "number of states of the series"}, {"sample_dimension", "observation"}}},
                    {"time", {"observation"}, set.times, {{"long_name", "time of the state"}}},
                    {"x", {"observation", "state"}, set.states, {{"long_name", "states, series after series"}}}};
  root.attributes = {{"Conventions", "CF-1.10"},
                     {"featureType", "timeSeries"},
                     {"catena_kind", series_kind},
                     {"catena_format_version", series_format_version},
                     {"prior", set.prior.to_json().dump()},
                     {"provenance", set.provenance.dump()}};
  if (set.uses_time) root.attributes["uses_time"] = 1;
  files::write_netcdf(path, root);
}

SeriesSet read_series_set(const std::filesystem::path& path) {
  const files::Group root = files::read_netcdf(path);
  const SeriesGroup group(path, root);
  const std::string kind = group.text("catena_kind");
  group.require(kind == series_kind,
                fmt::format("holds {}, not whole series (catena simulate --series makes some)", kind));
  const auto version = root.attributes.find("catena_format_version");
  group.require(version != root.attributes.end() && version->second == series_format_version,
                fmt::format("is of another format version than {}, which this catena reads", series_format_version));
  SeriesSet set;
  set.prior = prior::Prior::from_json(path.string(), files::parse_json(group.text("prior"), path.string()));
  set.provenance = files::parse_json(group.text("provenance"), path.string());
  const auto uses_time = root.attributes.find("uses_time");
  set.uses_time = uses_time != root.attributes.end() && uses_time->second == 1;
  const std::size_t records = group.dimension("series"), rows = group.dimension("observation");
  set.state_names = group.values<std::string>("state", group.dimension("state"));
  set.theta = group.values<double>("theta", records * set.prior.size());
  set.times = group.values<double>("time", rows);
  set.states = group.values<double>("x", rows * set.state_names.size());
  for (const std::int64_t size : group.values<std::int64_t>("row_size", records)) {
    group.require(size >= 0 && static_cast<std::uint64_t>(size) <= rows - set.offsets.back(),
                  "its \"row_size\" does not add up to its states");
    set.offsets.push_back(set.offsets.back() + static_cast<std::size_t>(size));
  }
  group.require(set.offsets.back() == rows, "its \"row_size\" does not add up to its states");
  group.require(all_finite(set.theta) && all_finite(set.times) && all_finite(set.states),
                "has numbers that are not finite");
  return set;
}

}  // namespace catena::simulate
