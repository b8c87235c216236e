/// What a file of corrected draws says about the correction (sample/correct/): the certificate of the learned posterior
/// and its draws. Read from the attributes `correction` and `certificate`; figures, findings and the page show it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catena/core/array.h"

namespace catena::report {

/// How far the learned posterior of one parameter is off, in its standard deviations, with standard errors.
struct CertifiedParameter {
  std::string name;
  double shift = 0, shift_error = 0;  ///< where it should be minus where it is
  double width = 1, width_error = 0;  ///< what its width should be over what it is
  bool shift_alarm = false, width_alarm = false;
};

struct CorrectionResult {
  std::vector<CertifiedParameter> parameters;  ///< in the order of the posterior's
  std::vector<std::string> sentences;          ///< the certificate in words; with an alarm the last is advice
  bool alarm = false;
  std::string not_corrected;                   ///< why not; empty: it was
  std::uint64_t spent = 0, budget_needed = 0;  ///< simulated transitions
  std::optional<Matrix> learned;               ///< draws before the correction, all finite, columns as the posterior's
};

/// `record`: the attributes of the file, JSON in them parsed. Nothing if it has no certificate of these parameters.
std::optional<CorrectionResult> correction_of(const nlohmann::json& record, const std::vector<std::string>& parameters,
                                              const Matrix& learned);

}  // namespace catena::report
