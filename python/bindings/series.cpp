// Sets of whole series: those that C++ simulates, files of them, and series made elsewhere.

#include "binding.h"
#include "catena/core/check.h"
#include "catena/simulate/whole_series/series_set.h"

namespace catena::python {
namespace {

using simulate::SeriesSet;

/// A read-only view of memory that `owner` keeps alive.
ConstArray rows_view(const std::vector<double>& values, std::size_t columns, nb::handle owner) {
  const std::size_t shape[] = {columns == 0 ? 0 : values.size() / columns, columns};
  return ConstArray(values.data(), 2, shape, owner);
}

SeriesSet make_series_set(const prior::Prior& prior, const Rows& theta, const std::vector<Rows>& series,
                          const std::vector<Numbers>& times, std::vector<std::string> state_names, bool uses_time,
                          const std::string& provenance) {
  check::equal("append_simulations", "the number of series", series.size(), theta.shape(0));
  SeriesSet set;
  set.prior = prior;
  set.state_names = std::move(state_names);
  set.uses_time = uses_time;
  set.provenance = parse(provenance);
  for (std::size_t r = 0; r < series.size(); ++r) {
    simulate::SeriesView one{view(series[r])};
    if (!times.empty()) one.times = span(times[r]);
    set.add(view(theta).row(r), one);
  }
  return set;
}

}  // namespace

void bind_series(nb::module_& m) {
  nb::class_<SeriesSet>(m, "SeriesSet")
      .def_prop_ro("theta",
                   [](nb::handle self) {
                     const auto& set = nb::cast<const SeriesSet&>(self);
                     return rows_view(set.theta, set.prior.size(), self);
                   })
      .def_prop_ro("states",
                   [](nb::handle self) {
                     const auto& set = nb::cast<const SeriesSet&>(self);
                     return rows_view(set.states, set.state_names.size(), self);
                   })
      .def_prop_ro("times", [](nb::handle self) { return rows_view(nb::cast<const SeriesSet&>(self).times, 1, self); })
      .def_ro("offsets", &SeriesSet::offsets)
      .def_ro("uses_time", &SeriesSet::uses_time)
      .def_ro("prior", &SeriesSet::prior)
      .def_ro("state_names", &SeriesSet::state_names)
      .def_prop_ro("provenance", [](const SeriesSet& set) { return text(set.provenance); })
      .def("__len__", &SeriesSet::size)
      .def("write", [](const SeriesSet& set, const std::string& path) {
        const nb::gil_scoped_release release;
        simulate::write_series_set(path, set);
      });
  m.def("make_series_set", &make_series_set, "prior"_a, "theta"_a, "series"_a, "times"_a, "state_names"_a,
        "uses_time"_a, "provenance"_a);
  m.def("read_series_set", [](const std::string& path) {
    const nb::gil_scoped_release release;
    return simulate::read_series_set(path);
  });
}

}  // namespace catena::python
