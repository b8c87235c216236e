#include "catena/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/version.h"
#include "catena/report/page_assets.h"
#include "catena/report/theme.h"

namespace catena::report {

namespace {

std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string plural(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string title_of(const Results& results) {
  const std::string task = task_name(results);
  const char* what = results.posterior ? "Posterior" : results.calibration ? "Calibration" : "Training";
  return task.empty() ? what : fmt::format("{} of {}", what, task);
}

std::string subtitle_of(const Results& results) {
  std::vector<std::string> parts;
  if (results.posterior) {
    parts.push_back(plural(results.posterior->parameters.size(), "parameter", "parameters"));
    parts.push_back(plural(results.posterior->values.rows(), "draw", "draws"));
  }
  if (results.observed && results.observed->values.rows() > 0) {
    parts.push_back(plural(results.observed->values.rows() - 1, "observed transition", "observed transitions"));
  }
  if (results.reference) parts.push_back("compared with a reference");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " · ") + part;
  return text;
}

std::string findings_section(const std::vector<Finding>& findings) {
  if (findings.empty()) return "";
  std::string html = "<section>\n<h2>What to know</h2>\n<ul class=\"findings\">\n";
  for (const Finding& finding : findings) {
    html += fmt::format("<li class=\"{}\">{}</li>\n", name(finding.severity), escaped(finding.text));
  }
  return html + "</ul>\n</section>\n";
}

std::string figure_section(const DrawnFigure& figure, bool drawable) {
  std::string html = fmt::format("<section>\n<h2>{}</h2>\n<figure>\n", escaped(figure.title));
  if (!drawable) {
    return html +
           "<p class=\"missing\">This figure is missing, because Vega was not found when the page was made.</p>\n"
           "</figure>\n</section>\n";
  }
  if (!figure.drawing.key.empty()) {
    html += "<ul class=\"key\">\n";
    for (const KeyEntry& entry : figure.drawing.key) {
      html += fmt::format("<li><i class=\"{}\" style=\"--colour: var(--{})\"></i>{}</li>\n", entry.shape, entry.colour,
                          escaped(entry.label));
    }
    html += "</ul>\n";
  }
  html += fmt::format("<button class=\"save\" data-figure=\"{}\" hidden>save as SVG</button>\n", escaped(figure.name));
  html += fmt::format("<div class=\"plot\" data-figure=\"{0}\" role=\"img\" aria-label=\"{1}\"></div>\n",
                      escaped(figure.name), escaped(figure.title));
  if (!figure.drawing.caption.empty()) {
    html += fmt::format("<figcaption>{}</figcaption>\n", escaped(figure.drawing.caption));
  }
  return html + "</figure>\n</section>\n";
}

/// A table with only those columns that a row has something for.
class Table {
 public:
  Table(std::string kind, std::vector<std::string> heads)
      : kind_(std::move(kind)), heads_(std::move(heads)), used_(heads_.size(), false) {}

  struct Cell {
    std::string text;
    bool alarm = false;
  };
  void add(std::vector<Cell> row) {
    for (std::size_t c = 0; c < row.size(); ++c) used_[c] = used_[c] || !row[c].text.empty();
    rows_.push_back(std::move(row));
  }
  std::string html() const {
    std::string html = fmt::format("<div class=\"table\">\n<table class=\"{}\">\n<thead><tr>", kind_);
    for (std::size_t c = 0; c < heads_.size(); ++c) {
      if (used_[c]) html += fmt::format("<th scope=\"col\">{}</th>", escaped(heads_[c]));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const auto& row : rows_) {
      html += "<tr>";
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (!used_[c]) continue;
        const char* kind = row[c].alarm ? " class=\"alarm\"" : c == 0 ? " class=\"name\"" : "";
        html += fmt::format("<td{}>{}</td>", kind, escaped(row[c].text));
      }
      html += "</tr>\n";
    }
    return html + "</tbody>\n</table>\n</div>\n";
  }

 private:
  std::string kind_;  // of the style sheet: "wide" for numbers, "plain" for texts
  std::vector<std::string> heads_;
  std::vector<bool> used_;
  std::vector<std::vector<Cell>> rows_;
};

/// +0.12, −0.30, 0.00
std::string signed_text(double value) {
  const std::string text = fmt::format("{:.2f}", std::abs(value));
  return text == "0.00" ? text : (value < 0 ? "−" : "+") + text;
}

std::string summary_section(const Summary& summary) {
  if (summary.parameters.empty()) return "";
  Table table("wide", {"parameter", "mean", "sd", end_text(summary.interval, false), "median",
                       end_text(summary.interval, true), "true", "R-hat", "ESS bulk", "ESS tail", "shift", "sd ratio"});
  for (const ParameterSummary& row : summary.parameters) {
    const auto in_units = [&](double value) { return number_text(value, row.deviation); };
    std::vector<Table::Cell> cells{
        {row.name},          {in_units(row.mean)},   {number_text(row.deviation, row.deviation)},
        {in_units(row.low)}, {in_units(row.median)}, {in_units(row.high)}};
    cells.push_back({row.truth ? in_units(*row.truth) : ""});
    cells.push_back(
        {row.health ? fmt::format("{:.3f}", row.health->r_hat) : "", row.health && row.health->r_hat > 1.01});
    cells.push_back({row.health ? fmt::format("{:.0f}", row.health->bulk_ess) : ""});
    cells.push_back(
        {row.health && std::isfinite(row.health->tail_ess) ? fmt::format("{:.0f}", row.health->tail_ess) : ""});
    cells.push_back(
        {row.mean_shift ? signed_text(*row.mean_shift) : "", row.mean_shift && std::abs(*row.mean_shift) > 0.3});
    cells.push_back({row.spread_ratio ? fmt::format("{:.2f}", *row.spread_ratio) : "",
                     row.spread_ratio && (*row.spread_ratio < 0.8 || *row.spread_ratio > 1.25)});
    table.add(std::move(cells));
  }
  std::string html = "<section>\n<h2>In numbers</h2>\n" + table.html();
  if (summary.comparison) {
    html +=
        "<p class=\"key\">Shift: mean minus the reference's, in the reference's standard deviations. Sd ratio: "
        "standard "
        "deviation over the reference's.</p>\n";
  }
  return html + "</section>\n";
}

std::string comparison_section(const Summary& summary) {
  if (!summary.comparison) return "";
  const Comparison& c = *summary.comparison;
  Table table("plain", {"measure", "value", "meaning"});
  const auto add = [&](const char* name, const std::optional<double>& value, const char* meaning) {
    if (value) table.add({{name}, {fmt::format("{:.4f}", *value)}, {meaning}});
  };
  add("C2ST", c.c2st, "0.5: alike, 1: apart");
  add("sliced Wasserstein-1", c.sw1, "0: alike; in the parameters' units");
  add("the same, normalised", c.sw1_normalised, "in standard deviations of the reference");
  return fmt::format(
      "<section>\n<h2>Distance from the reference</h2>\n{}<p class=\"key\">From {} draws of each.</p>\n"
      "</section>\n",
      table.html(), c.draws);
}

/// What simulations at the observed states say about the learned posterior.
std::string correction_section(const Results& results) {
  if (!results.correction) return "";
  Table table("wide", {"parameter", "truth − learned", "right/learned width"});
  for (const CertifiedParameter& row : results.correction->parameters) {
    table.add({{row.name},
               {fmt::format("{} ± {:.2f}", signed_text(row.shift), row.shift_error), row.shift_alarm},
               {fmt::format("{:.2f} ± {:.2f}", row.width, row.width_error), row.width_alarm}});
  }
  return "<section>\n<h2>The learned posterior</h2>\n" + table.html() +
         "<p class=\"key\">In standard deviations of the learned posterior, with standard errors: where it should be "
         "minus "
         "where it is, and how wide it should be over how wide it is.</p>\n</section>\n";
}

/// {"a": {"b": 1}} → a.b: 1. Long lists and texts are cut: a page is for reading.
void flatten(const nlohmann::json& value, const std::string& name,
             std::vector<std::pair<std::string, std::string>>& out) {
  constexpr std::size_t most_entries = 80, longest = 160;
  if (out.size() >= most_entries) return;
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      flatten(inner, name.empty() ? key : fmt::format("{}.{}", name, key), out);
    }
    return;
  }
  std::string text = value.is_string() ? value.get<std::string>() : dump(value);
  if (value.is_number_float()) text = fmt::format("{:.6g}", value.get<double>());
  if (value.is_array()) {
    text.clear();
    for (std::size_t i = 0; i < value.size() && text.size() < longest; ++i) {
      const nlohmann::json& entry = value[i];
      text += (i == 0 ? "" : ", ");
      text += entry.is_string()         ? entry.get<std::string>()
              : entry.is_number_float() ? fmt::format("{:.4g}", entry.get<double>())
                                        : dump(entry);
    }
  }
  if (text.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + " …";
  }
  out.emplace_back(name, std::move(text));
}

std::string provenance_section(const Results& results) {
  std::string html = "<section>\n<h2>Where it came from</h2>\n";
  for (const Source& source : results.sources) {
    html += fmt::format("<details><summary>{} <span>{}</span></summary>\n<dl>\n", escaped(source.kind),
                        escaped(source.file));
    std::vector<std::pair<std::string, std::string>> entries;
    flatten(source.record, "", entries);
    for (const auto& [key, text] : entries) {
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(key), escaped(text));
    }
    html += "</dl></details>\n";
  }
  return html + "</section>\n";
}

/// In JavaScript `<\/script` is the same text as `</script`, but does not end the element.
std::string without_end_tags(std::string_view script) {
  std::string result(script);
  for (std::size_t at = 0; (at = result.find("</", at)) != std::string::npos; at += 3) {
    if (result.size() > at + 2 && (result[at + 2] == 's' || result[at + 2] == 'S')) result.insert(at + 1, "\\");
  }
  return result;
}

std::string style_sheet() {
  const std::string light = css_variables(light_palette()) + " --paper: #ffffff;";
  const std::string dark = css_variables(dark_palette()) + " --paper: #14191f;";
  return fmt::format(
      ":root {{ color-scheme: light dark; {0} }}\n"
      "@media screen and (prefers-color-scheme: dark) {{ :root {{ {1} }} }}\n{2}",
      light, dark, page_style);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '\0':
        result += "\xEF\xBF\xBD";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string json_for_script(const nlohmann::json& value) {
  std::string result;
  for (const char c : dump(value)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string number_text(double value, double spread) {
  if (!std::isfinite(value)) return "–";
  const double unit = spread > 0 && std::isfinite(spread) ? spread : std::max(std::abs(value), 1e-300);
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(unit)));
  if (decimals > 8 || std::abs(value) >= 1e9) return fmt::format("{:.4g}", value);
  const std::string text = fmt::format("{:.{}f}", value, std::max(0, decimals));
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  return text.starts_with('-') ? (zero ? "" : "−") + text.substr(1) : text;
}

std::string page(const Results& results, const Summary& summary, const std::vector<Finding>& findings,
                 const std::vector<DrawnFigure>& figures, std::string_view vega_bundle) {
  const bool drawable = !vega_bundle.empty();
  const std::string title = escaped(title_of(results));
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src "
      "'unsafe-inline' 'unsafe-eval'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{0}</h1>\n<p>{2}</p>\n</header>\n<main>\n",
      title, style_sheet(), escaped(subtitle_of(results)));
  html += findings_section(findings);
  // The posterior's figures, its numbers, then the rest.
  nlohmann::json specs = nlohmann::json::object();
  const std::string numbers = summary_section(summary) + comparison_section(summary) + correction_section(results);
  bool numbers_shown = false;
  for (const DrawnFigure& figure : figures) {
    if (!figure.of_posterior && !numbers_shown) {
      html += numbers;
      numbers_shown = true;
    }
    html += figure_section(figure, drawable);
    specs[figure.name] = figure.drawing.spec;
    specs[figure.name].erase("config");
  }
  if (!numbers_shown) html += numbers;
  html += provenance_section(results);
  html += fmt::format("</main>\n<footer>Made by catena {}. This page needs no network.</footer>\n", escaped(version()));
  if (drawable) {
    html += "<noscript><p class=\"missing\">The figures need JavaScript.</p></noscript>\n";
    html += "<script type=\"application/json\" id=\"catena-figures\">" + json_for_script(specs) + "</script>\n";
    html += "<script type=\"application/json\" id=\"catena-config\">" + json_for_script(vega_config(css_palette())) +
            "</script>\n<script>";
    html += without_end_tags(vega_bundle);
    html += "</script>\n<script>";
    html += page_script;
    html += "</script>\n";
  }
  return html + "</body>\n</html>\n";
}

}  // namespace catena::report
