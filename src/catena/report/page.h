/// The report as one HTML page that needs nothing but itself: findings, figures, tables, and where it all came from.
/// Everything that stems from a file is escaped, and a content security policy forbids every request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catena/report/figure.h"
#include "catena/report/findings.h"
#include "catena/report/results.h"
#include "catena/report/summary.h"

namespace catena::report {

/// `vega_bundle` is the JavaScript of Vega, Vega-Lite and Vega-Embed; without it (empty) the page has tables and
/// findings and says that the figures are missing.
std::string page(const Results& results, const Summary& summary, const std::vector<Finding>& findings,
                 const std::vector<DrawnFigure>& figures, std::string_view vega_bundle);

/// &, <, >, " and ' as entities.
std::string escaped(std::string_view text);

/// JSON that may stand inside <script>: no `<` in it, so neither </script> nor <!-- can occur.
std::string json_for_script(const nlohmann::json& value);

/// As many decimals as `spread` has meaning for: 1.234 ± 0.05 becomes 1.234, 12345 ± 200 becomes 12345.
std::string number_text(double value, double spread);

}  // namespace catena::report
