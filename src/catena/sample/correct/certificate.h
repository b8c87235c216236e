/// How good a learned posterior is, said without a reference: how far it is shifted and how much too wide or narrow, in
/// its own standard deviations, with standard errors, from transitions that were simulated at the observed states.
///
/// If what was learned is right, the mean of its score over transitions simulated with ẑ is zero, whatever the states:
/// b = E[ŝ(x^t, X'; ẑ) | ẑ] = 0. Where it is not, a series of T transitions has its posterior off by about
///
///   −Λ⁻¹ Jᵀ V⁻¹ T b,   Λ = I + T Jᵀ V⁻¹ J,   J = ∂μ/∂z,
///
/// and Λ⁻¹ is how wide it should be. The alarm is raised if b̂ is further from zero than its noise explains, at a stated
/// rate, or if a width is off by more than 15 % beyond its own standard error. The first needs no normal law, what is
/// said of sizes does: where the sum of the scores is not normal, widths raise no alarm and the certificate says
/// `rough`.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/prior/around.h"
#include "catena/sample/correct/law.h"

namespace catena::sample {

struct ParameterCertificate {
  std::string name;
  double shift = 0, shift_error = 0;  // in standard deviations of the learned posterior: truth − learned
  double width = 1, width_error = 0;  // what it should be over what it is
};

struct Certificate {
  std::vector<ParameterCertificate> parameters;
  double p_value = 1;          // of "the learned score has mean zero"
  double false_alarms = 0.01;  // the rate at which exact posteriors are accused of a shift
  bool shifted = false, mis_sized = false;
  bool rough = false;               // too few records for sizes: the sum of their scores is not normal
  std::size_t transitions = 0;      // T
  std::uint64_t budget_needed = 0;  // steps of the simulator after which a correction is within a fifth of a deviation

  bool alarm() const { return shifted || mis_sized; }
  /// "beta: shifted by 1.3 ± 0.1 standard deviations; …", one sentence for each parameter that is off, then what to do.
  std::vector<std::string> sentences() const;
  nlohmann::json to_json() const;
};

struct CertificateInput {
  const NormalLaw& law;
  /// The statistic, whitened as in the law, of records simulated with z = anchor alone: means of pairs, one a row.
  const Eigen::MatrixXd& at_anchor;
  std::vector<double> anchor;
  /// The learned posterior around the anchor: draws of the networks' z.
  ConstMatrixView learned;
  const prior::TruePrior& prior;
  double steps_per_record = 1;
  bool normal = true;  // whether the sum of the scores is, near enough
};

Certificate certify(const CertificateInput& input, double false_alarms, Stream stream);

}  // namespace catena::sample
