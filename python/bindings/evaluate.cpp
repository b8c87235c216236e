// Metrics between two sets of draws.

#include "binding.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/evaluate/draws.h"
#include "catena/evaluate/metric.h"

namespace catena::python {
namespace {

std::string evaluate_draws(const Rows& a, const Rows& b, const std::vector<std::string>& metrics, std::uint64_t seed,
                           int threads) {
  nlohmann::json result = nlohmann::json::object();
  run(false, [&](Progress& progress) {
    const Streams streams(seed);
    const Parallel parallel(threads);
    for (const std::string& name : metrics) {
      result[name] = evaluate::metrics().at("evaluate", name).compute(view(a), view(b), streams, parallel);
      progress.advance(1);
    }
  });
  return text(result);
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  m.def("evaluate", &evaluate_draws, "a"_a, "b"_a, "metrics"_a, "seed"_a, "threads"_a);
  m.def("metrics", [] {
    nlohmann::json list = nlohmann::json::array();
    for (const evaluate::Metric& metric : evaluate::metrics()) {
      list.push_back({{"name", metric.name}, {"help", metric.help}});
    }
    return text(list);
  });
  m.def("read_draws", [](const std::string& path) {
    evaluate::Draws draws;
    {
      const nb::gil_scoped_release release;
      draws = evaluate::read_draws(path);
    }
    return nb::make_tuple(draws.parameters, to_numpy(std::move(draws.values)));
  });
}

}  // namespace catena::python
