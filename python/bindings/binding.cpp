#include "binding.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>

#include "catena/core/check.h"
#include "catena/core/errors.h"

namespace catena::python {

Matrix copy(const Rows& rows) {
  Matrix matrix(rows.shape(0), rows.shape(1));
  std::copy_n(rows.data(), rows.size(), matrix.data());
  return matrix;
}

std::vector<simulate::SeriesView> views_of(const std::vector<Rows>& series, const std::vector<Numbers>& times,
                                           const std::vector<Rows>& covariates) {
  CATENA_ASSERT(times.empty() || times.size() == series.size());
  CATENA_ASSERT(covariates.empty() || covariates.size() == series.size());
  std::vector<simulate::SeriesView> views;
  for (std::size_t s = 0; s < series.size(); ++s) {
    simulate::SeriesView& one = views.emplace_back();
    one.states = view(series[s]);
    if (!times.empty()) one.times = span(times[s]);
    if (!covariates.empty()) one.covariates = view(covariates[s]);
  }
  return views;
}

namespace {

/// `kept` moves to the heap and dies with the array.
template <class Kept>
Array array_of(Kept&& kept, std::initializer_list<std::size_t> shape) {
  auto heap = std::make_unique<std::remove_cvref_t<Kept>>(std::forward<Kept>(kept));
  double* data = heap->data();
  const nb::capsule owner(heap.get(), [](void* p) noexcept { delete static_cast<std::remove_cvref_t<Kept>*>(p); });
  static_cast<void>(heap.release());  // the capsule has it now
  return Array(data, shape, owner);
}

}  // namespace

Array to_numpy(Matrix&& matrix) {
  const std::size_t rows = matrix.rows(), cols = matrix.cols();
  return array_of(std::move(matrix), {rows, cols});
}

Array to_numpy(std::vector<double>&& values) {
  const std::size_t size = values.size();
  return array_of(std::move(values), {size});
}

ConstArray view_of(const Matrix& matrix, nb::handle owner) {
  return ConstArray(matrix.data(), {matrix.rows(), matrix.cols()}, owner);
}

nlohmann::json parse(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw InternalError("catena: Python sent text that is no JSON; please report this");
  return json;
}

std::string text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json to_json(std::span<const FieldInfo> fields) {
  nlohmann::json list = nlohmann::json::array();
  for (const FieldInfo& field : fields) {
    list.push_back(
        {{"name", field.name}, {"help", field.help}, {"default", field.default_value}, {"must_be", field.must_be}});
  }
  return list;
}

void CallProgress::advance(std::uint64_t units) {
  inner_->advance(units);
  if (stop_) throw Interrupted();
}

void run(bool show_progress, const std::function<void(Progress&)>& work) {
  constexpr auto patience = std::chrono::milliseconds(20);  // how long Ctrl-C may go unnoticed
  CallProgress progress(show_progress);
  std::optional<nb::python_error> interrupt;
  std::exception_ptr error;
  {
    const nb::gil_scoped_release release;
    std::future<void> done = std::async(std::launch::async, [&] { work(progress); });
    while (done.wait_for(patience) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) continue;
      interrupt.emplace();
      progress.stop();
    }
    try {
      done.get();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (interrupt) throw std::move(*interrupt);
  if (error) std::rethrow_exception(error);
}

}  // namespace catena::python
