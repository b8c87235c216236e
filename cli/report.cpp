// catena report FILES -o report.html: what the files hold as one page, or as one picture or specification per figure.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "catena/files/atomic.h"
#include "catena/files/json.h"
#include "catena/report/figure.h"
#include "catena/report/findings.h"
#include "catena/report/information.h"
#include "catena/report/page.h"
#include "catena/report/render.h"
#include "catena/report/results.h"
#include "catena/report/summary.h"
#include "common.h"
#include "figure_files.h"
#include "verb.h"

namespace catena::cli {

namespace {

using std::filesystem::path;

constexpr std::string_view report_function = "catena report";

struct ReportOptions {
  Common common;
  std::vector<std::string> files;
  std::string output, bundle, python;
  std::string format = "html";
  double scale = 2;
};

/// Vega's JavaScript; empty, with a remark, if there is none and none was asked for.
std::string vega_bundle(const ReportOptions& options) {
  constexpr std::uint64_t largest = std::uint64_t{64} << 20;
  if (!options.bundle.empty()) return files::read_file(options.bundle, largest);
  const auto found = report::find_shared(report::program_directory(), "vega-bundle.js");
  if (found) return files::read_file(*found, largest);
  fmt::print(stderr,
             "{}: vega-bundle.js was not found beside the program, so the page has tables and no figures; make it with "
             "tools/vega-bundle and name it by --vega-bundle\n",
             report_function);
  return "";
}

int run_report(const ReportOptions& options) {
  std::vector<path> inputs(options.files.begin(), options.files.end());
  report::Results results = report::read_results(inputs);
  report::add_information(results, options.common.parallel());
  const Streams streams(options.common.seed);
  const report::Summary summary = report::summarise(results, streams, options.common.parallel());
  const std::vector<report::Finding> findings = report::findings(results, summary, streams);
  const std::vector<report::DrawnFigure> figures = report::draw_all(results);

  std::vector<path> written;
  if (options.format == "html") {
    files::write_file(options.output, report::page(results, summary, findings, figures, vega_bundle(options)));
    written.emplace_back(options.output);
  } else {
    written = write_figures({report_function, options.format, options.scale, options.python}, figures, options.output);
  }

  if (options.common.json) {
    nlohmann::json object = report::to_json(summary);
    object["output"] = nlohmann::json::array();
    for (const path& file : written) object["output"].push_back(file.string());
    object["figures"] = nlohmann::json::array();
    for (const auto& figure : figures) object["figures"].push_back(figure.name);
    object["findings"] = nlohmann::json::array();
    for (const auto& finding : findings) {
      object["findings"].push_back({{"severity", name(finding.severity)}, {"text", finding.text}});
    }
    print_json(object);
  } else if (!options.common.quiet) {
    for (const auto& finding : findings) {
      if (finding.severity == report::Severity::warning) fmt::print("warning: {}\n", finding.text);
    }
    for (const path& file : written) fmt::print("{}\n", file.string());
  }
  return success;
}

Run set_up_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  app.add_option(
         "FILES", options->files,
         "any of: a model (.safetensors), draws of the posterior and then of the reference (.nc), the observed "
         "series (.csv, with its true parameters in the .json beside it), predictive series (.nc), a calibration "
         "(.nc)")
      ->required();
  app.add_option("-o,--output", options->output, "the page; with another --format a directory")
      ->required()
      ->type_name("FILE");
  add_flag(app, options->format, "--format",
           "html: one page that opens offline; png, svg: each figure as a picture; json: as a Vega-Lite specification",
           one_of({"html", "png", "svg", "json"}));
  add_flag(app, options->scale, "--scale", "pixels of a png per pixel of the figure", between(0.1, 10.0));
  add_flag(app, options->python, "--python", "a Python with vl-convert-python, for png and svg", anything());
  add_flag(app, options->bundle, "--vega-bundle", "Vega's JavaScript, if not the one beside the program", anything());
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_report(*options); };
}

}  // namespace

Verb report_verb() { return {"report", "show results as one page, or as pictures", set_up_report}; }

}  // namespace catena::cli
