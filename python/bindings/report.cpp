// Figures and pages of results that Python holds: the same as those of `catena report`.

#include <algorithm>

#include "binding.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/report/figure.h"
#include "catena/report/findings.h"
#include "catena/report/information.h"
#include "catena/report/page.h"
#include "catena/report/results.h"
#include "catena/report/summary.h"

namespace catena::python {
namespace {

using report::Results;

report::DrawSet draw_set(std::vector<std::string> parameters, const Rows& theta, std::size_t chains) {
  report::DrawSet set;
  set.parameters = std::move(parameters);
  set.values = copy(theta);
  set.chains = chains;
  return set;
}

report::Calibration calibration_of(std::vector<std::string> parameters, const Rows& ranks, std::size_t draws) {
  report::Calibration calibration{std::move(parameters), {}};
  for (std::size_t p = 0; p < ranks.shape(0); ++p) {
    evaluate::Ranks one{draws, {}};
    for (const double rank : view(ranks).row(p)) one.values.push_back(static_cast<std::size_t>(rank));
    calibration.ranks.push_back(std::move(one));
  }
  return calibration;
}

std::string figures(const Results& results) {
  nlohmann::json list = nlohmann::json::array();
  const nb::gil_scoped_release release;
  for (const report::DrawnFigure& figure : report::draw_all(results)) {
    list.push_back({{"name", figure.name},
                    {"title", figure.title},
                    {"caption", figure.drawing.caption},
                    {"spec", figure.drawing.spec}});
  }
  return text(list);
}

/// The whole report; `only` names the figures to show, none: all.
std::string page(const Results& results, const std::vector<std::string>& only, const std::string& vega_bundle,
                 std::uint64_t seed, int threads) {
  std::string html;
  run(false, [&](Progress&) {
    const Streams streams(seed);
    const report::Summary summary = report::summarise(results, streams, Parallel(threads));
    std::vector<report::DrawnFigure> drawn = report::draw_all(results);
    if (!only.empty()) {
      std::erase_if(drawn, [&](const auto& figure) { return std::ranges::find(only, figure.name) == only.end(); });
    }
    html = report::page(results, summary, report::findings(results, summary, streams), drawn, vega_bundle);
  });
  return html;
}

std::string findings(const Results& results, std::uint64_t seed, int threads) {
  nlohmann::json list = nlohmann::json::array();
  run(false, [&](Progress&) {
    const Streams streams(seed);
    const report::Summary summary = report::summarise(results, streams, Parallel(threads));
    for (const report::Finding& finding : report::findings(results, summary, streams)) {
      list.push_back({{"severity", report::name(finding.severity)}, {"text", finding.text}});
    }
  });
  return text(list);
}

/// What the files hold, as `catena report` reads them.
Results read(const std::vector<std::string>& files, double interval) {
  const nb::gil_scoped_release release;
  return report::read_results({files.begin(), files.end()}, {.interval = interval, .labels = {}});
}

}  // namespace

void bind_report(nb::module_& m) {
  m.def("read_results", &read, "files"_a, "interval"_a);
  nb::class_<Results>(m, "Results")
      .def(nb::init<>())
      .def("set_labels",
           [](Results& results, const std::string& labels) {
             const nlohmann::json parsed = parse(labels);
             for (const auto& [name, label] : parsed.items()) results.style.labels[name] = label.get<std::string>();
             report::apply_labels(results);
           })
      .def("set_reference", [](Results& results, std::vector<std::string> parameters,
                               const Rows& theta) { results.reference = draw_set(std::move(parameters), theta, 1); })
      .def("set_truth",
           [](Results& results, const Numbers& theta) { results.truth.assign(span(theta).begin(), span(theta).end()); })
      .def("set_learning_curve",
           [](Results& results, const std::string& curve) { results.learning_curve = model::curve_from(parse(curve)); })
      .def("set_calibration",
           [](Results& results, std::vector<std::string> parameters, const Rows& ranks, std::size_t draws) {
             results.calibration = calibration_of(std::move(parameters), ranks, draws);
           })
      .def(
          "add_information",
          [](Results& results, const model::TrainedModel& model, int threads) {
            run(false, [&](Progress&) { report::add_information(results, model, Parallel(threads)); });
          },
          "model"_a, "threads"_a)
      .def("figures", &figures)
      .def("findings", &findings, "seed"_a, "threads"_a)
      .def("page", &page, "only"_a, "vega_bundle"_a, "seed"_a, "threads"_a);
}

}  // namespace catena::python
