// catena report FILES -o report.html: what the files hold as one page, or as one picture or specification per figure.

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <memory>

#include "catena/core/check.h"
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
  std::vector<std::string> files, labels;
  std::string output, bundle, python, figure;
  std::string format = "auto";
  double scale = 2, interval = 0.9;
};

/// What --format says, or else the ending of --output; html unless that is of a figure.
std::string format_of(const ReportOptions& options) {
  if (options.format != "auto") return options.format;
  const std::string ending = path(options.output).extension().string();
  for (const char* format : {"png", "svg", "pdf", "json"}) {
    if (ending == fmt::format(".{}", format)) return format;
  }
  return "html";
}

/// --label theta_1="growth rate (1/yr)"
std::map<std::string, std::string> labels_of(const ReportOptions& options) {
  std::map<std::string, std::string> labels;
  for (const std::string& text : options.labels) {
    const std::size_t equals = text.find('=');
    check::that(equals != std::string::npos && equals > 0, report_function, "--label", text, "of the form NAME=TEXT");
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

/// All figures, or the one that --figure names.
std::vector<report::DrawnFigure> chosen_figures(const ReportOptions& options, const report::Results& results) {
  std::vector<report::DrawnFigure> drawn = report::draw_all(results);
  if (options.figure.empty()) return drawn;
  std::vector<std::string> names;
  for (const report::DrawnFigure& figure : drawn) names.push_back(figure.name);
  std::erase_if(drawn, [&](const report::DrawnFigure& figure) { return figure.name != options.figure; });
  check::that(!drawn.empty(), report_function, "--figure", options.figure,
              fmt::format("one that these files have: {}", fmt::join(names, ", ")));
  return drawn;
}

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
  const std::string format = format_of(options);
  report::Results results = report::read_results(inputs, {.interval = options.interval, .labels = labels_of(options)});
  report::add_information(results, options.common.parallel());
  report::apply_labels(results);
  const Streams streams(options.common.seed);
  const report::Summary summary = report::summarise(results, streams, options.common.parallel());
  const std::vector<report::Finding> findings = report::findings(results, summary, streams);
  const std::vector<report::DrawnFigure> figures = chosen_figures(options, results);

  std::vector<path> written;
  const FigureFiles plan{report_function, format, options.scale, options.python};
  if (format == "html") {
    files::write_file(options.output, report::page(results, summary, findings, figures, vega_bundle(options)));
    written.emplace_back(options.output);
  } else if (path(options.output).extension() == "." + format) {
    check::that(!figures.empty(), report_function, "the number of figures of these files", 0, "at least 1");
    written = write_files(plan, {{figures.front(), options.output}});
  } else {
    written = write_figures(plan, figures, options.output);
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
  app.add_option("-o,--output", options->output,
                 "the page; f.png, f.svg, f.pdf or f.json: one figure; with another --format a directory")
      ->required()
      ->type_name("FILE");
  add_flag(app, options->format, "--format",
           "html: one page that opens offline; png, svg, pdf: each figure as a picture; json: as a Vega-Lite "
           "specification; auto: by the ending of --output",
           one_of({"auto", "html", "png", "svg", "pdf", "json"}));
  add_flag(app, options->figure, "--figure", "this figure alone (a file of one figure: the first, unless named)",
           anything());
  app.add_option("--label", options->labels, "what a parameter or state is called: theta_1=\"growth rate (1/yr)\"")
      ->type_name("NAME=TEXT");
  add_flag(app, options->interval, "--interval", "share of intervals in tables, bands and regions",
           between(0.01, 0.999));
  add_flag(app, options->scale, "--scale", "pixels of a png per pixel of the figure", between(0.1, 10.0));
  add_flag(app, options->python, "--python", "a Python with vl-convert-python, for png, svg and pdf", anything());
  add_flag(app, options->bundle, "--vega-bundle", "Vega's JavaScript, if not the one beside the program", anything());
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_report(*options); };
}

}  // namespace

Verb report_verb() { return {"report", "show results as one page, or as pictures", set_up_report}; }

}  // namespace catena::cli
