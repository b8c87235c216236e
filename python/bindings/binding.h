/// What every binding file needs: arrays that cross without a copy, settings that cross as JSON text, and `run`, which
/// computes without the GIL and stops at Ctrl-C. The module is private: python/catena checks and converts arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/progress.h"
#include "catena/simulate/series.h"

namespace catena::python {

namespace nb = nanobind;
using namespace nb::literals;

// What comes in: doubles in rows without gaps, which the Python side has made sure of.
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// What goes out.
using Array = nb::ndarray<nb::numpy, double>;
using ConstArray = nb::ndarray<nb::numpy, const double>;

inline ConstMatrixView view(const Rows& rows) { return {rows.data(), rows.shape(0), rows.shape(1)}; }
inline std::span<const double> span(const Numbers& numbers) { return {numbers.data(), numbers.shape(0)}; }
Matrix copy(const Rows& rows);
/// As many times and covariates as series, or none at all. Looks at what it is given.
std::vector<simulate::SeriesView> views_of(const std::vector<Rows>& series, const std::vector<Numbers>& times,
                                           const std::vector<Rows>& covariates);

/// The matrix itself becomes the array's memory.
Array to_numpy(Matrix&& matrix);
Array to_numpy(std::vector<double>&& values);
/// A read-only view of memory that `owner` keeps alive.
ConstArray view_of(const Matrix& matrix, nb::handle owner);

/// Settings and records cross as JSON text, which Python's json module reads and writes.
nlohmann::json parse(const std::string& text);
std::string text(const nlohmann::json& json);
/// [{"name": …, "help": …, "default": …, "must_be": …}, …]
nlohmann::json to_json(std::span<const FieldInfo> fields);

/// A progress that a stop may be asked of, for one call. Shows a bar or lines on standard error, or nothing.
class CallProgress final : public Progress {
 public:
  explicit CallProgress(bool shown) : inner_(make_progress(shown ? ProgressStyle::automatic : ProgressStyle::silent)) {}
  void start(std::string_view label, std::string_view unit, std::uint64_t total) override {
    inner_->start(label, unit, total);
  }
  void expect(std::uint64_t units) override { inner_->expect(units); }
  void advance(std::uint64_t units) override;
  void note(std::string_view text) override { inner_->note(text); }
  void finish() override { inner_->finish(); }
  bool stop_requested() const override { return stop_; }
  void stop() { stop_ = true; }

 private:
  std::unique_ptr<Progress> inner_;
  std::atomic<bool> stop_ = false;
};

/// Runs `work` on a thread of its own without the GIL, while this one waits for signals: at Ctrl-C the work is asked to
/// stop and KeyboardInterrupt is thrown. Exceptions of `work` are thrown here.
void run(bool show_progress, const std::function<void(Progress&)>& work);

// The parts of the module, one file each.
void bind_simulate(nb::module_& m);
void bind_series(nb::module_& m);  // called by bind_simulate, whose functions return series
void bind_tasks(nb::module_& m);
void bind_train(nb::module_& m);
void bind_sample(nb::module_& m);
void bind_compose(nb::module_& m);
void bind_correct(nb::module_& m);
void bind_evaluate(nb::module_& m);
void bind_report(nb::module_& m);

}  // namespace catena::python
