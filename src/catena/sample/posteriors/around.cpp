#include "catena/sample/posteriors/around.h"

#include "catena/core/check.h"
#include "catena/sample/mcmc/start/modes.h"

namespace catena::sample {

prior::Around fit_around(std::string_view function, const prior::Prior& prior, ConstMatrixView theta, double widen) {
  check::positive(function, "widen", widen);
  const std::optional<prior::Around> before = prior::around_of(prior);
  prior::Around parts{before ? before->base : prior, {}};
  check::equal(function, "the number of parameters of the draws", theta.cols, parts.base.size());
  check::at_least(function, "the number of draws", theta.rows, 10 * parts.base.size());
  Matrix z(theta.rows, theta.cols);
  for (std::size_t r = 0; r < theta.rows; ++r) parts.base.to_z(theta.row(r), z.row(r));
  for (std::size_t i = 0; i < z.cols(); ++i) {
    bool differ = false;
    for (std::size_t r = 1; r < z.rows(); ++r) differ = differ || z(r, i) != z(0, i);
    check::that(differ, function, "the covariance of the draws", "singular",
                "positive definite: are there equal draws only?");
  }
  double all = 0;
  Modes modes = find_modes(z, usual_modes);
  for (Mode& mode : modes.all) {
    if (mode.weight * static_cast<double>(z.rows()) < 1) continue;  // a component that no draw is of
    all += mode.weight;
    parts.normals.components.push_back({mode.weight, std::move(mode.shape.mean), widen * mode.shape.lower});
  }
  for (auto& component : parts.normals.components) component.weight /= all;
  return parts;
}

}  // namespace catena::sample
