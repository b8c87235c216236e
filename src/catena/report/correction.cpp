#include "catena/report/correction.h"

#include <algorithm>
#include <cmath>

namespace catena::report {

namespace {

const nlohmann::json* object_in(const nlohmann::json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_object() ? &*found : nullptr;
}

double number_in(const nlohmann::json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

bool is_true(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

Matrix rows_that_are_finite(const Matrix& values) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < values.rows(); ++r) {
    if (std::ranges::all_of(values.row(r), [](double v) { return std::isfinite(v); })) rows.push_back(r);
  }
  Matrix kept(rows.size(), values.cols());
  for (std::size_t k = 0; k < rows.size(); ++k) std::ranges::copy(values.row(rows[k]), kept.row(k).begin());
  return kept;
}

}  // namespace

std::optional<CorrectionResult> correction_of(const nlohmann::json& record, const std::vector<std::string>& parameters,
                                              const Matrix& learned) {
  const nlohmann::json *certificate = object_in(record, "certificate"), *correction = object_in(record, "correction");
  const nlohmann::json* each = certificate == nullptr ? nullptr : object_in(*certificate, "parameters");
  if (each == nullptr || correction == nullptr) return std::nullopt;
  CorrectionResult result;
  const bool shifted = is_true(*certificate, "shifted"), mis_sized = is_true(*certificate, "mis_sized");
  for (const std::string& name : parameters) {
    const nlohmann::json* one = object_in(*each, name.c_str());
    if (one == nullptr) return std::nullopt;
    CertifiedParameter row{name, number_in(*one, "shift", NAN), number_in(*one, "shift_error", NAN),
                           number_in(*one, "width", NAN), number_in(*one, "width_error", NAN)};
    // As in the certificate's sentences: beyond two standard errors, and 15 % of a width.
    row.shift_alarm = shifted && std::abs(row.shift) > 2 * row.shift_error;
    row.width_alarm = mis_sized && std::abs(std::log(row.width)) > std::log(1.15);
    result.parameters.push_back(std::move(row));
  }
  if (const auto found = certificate->find("sentences"); found != certificate->end() && found->is_array()) {
    for (const nlohmann::json& sentence : *found) {
      if (sentence.is_string()) result.sentences.push_back(sentence.get<std::string>());
    }
  }
  result.alarm = is_true(*certificate, "alarm");
  if (const auto found = correction->find("not_corrected"); found != correction->end() && found->is_string()) {
    result.not_corrected = found->get<std::string>();
  }
  result.spent = static_cast<std::uint64_t>(number_in(*correction, "spent", 0));
  result.budget_needed = static_cast<std::uint64_t>(number_in(*certificate, "budget_needed", 0));
  Matrix finite = rows_that_are_finite(learned);
  if (finite.rows() >= 2 && finite.cols() == parameters.size()) result.learned = std::move(finite);
  return result;
}

}  // namespace catena::report
