#include "findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common.h"
#include "verb.h"

namespace catena::cli {

int report_findings(std::string_view function, const sample::PosteriorDraws& draws) {
  for (const sample::DrawFinding& finding : draws.findings) {
    fmt::print(stderr, "{}: {}: {}; {}\n", function, name(finding.outcome), finding.sentence,
               advice(finding.outcome, function));
  }
  const bool said = !draws.findings.empty() && draws.findings.front().outcome == draws.outcome;
  return said ? not_achieved : exit_code(function, draws.outcome);
}

bool says_outside(const sample::PosteriorDraws& draws) {
  return std::ranges::any_of(
      draws.findings, [](const sample::DrawFinding& finding) { return finding.outcome == Outcome::outside_training; });
}

}  // namespace catena::cli
