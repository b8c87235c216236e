#include "catena/sample/correct/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "catena/core/errors.h"
#include "catena/files/safetensors.h"

namespace catena::sample {
namespace {

constexpr const char* kind = "answers of a simulator";

/// FNV-1a over the bits of numbers.
std::uint64_t hashed(std::uint64_t hash, std::span<const double> values) {
  for (const std::byte each : std::as_bytes(values)) {
    hash = (hash ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
  }
  return hash;
}

}  // namespace

Answers::Answers(AnswerPlan plan, bool writes) : plan_(std::move(plan)), writes_(writes) {
  if (plan_.path.empty() || !plan_.resume || !std::filesystem::exists(plan_.path)) return;
  const files::TensorFile file = files::read_safetensors(plan_.path);
  if (file.metadata.value("kind", nlohmann::json()) != kind) {
    throw FileError(fmt::format("{}: is no file of what a simulator has answered; remove it or do not resume",
                                plan_.path.string()));
  }
  for (const files::Tensor& tensor : file.tensors) {
    const auto* values = std::get_if<std::vector<double>>(&tensor.values);
    std::uint64_t question = 0;
    const char* end = tensor.name.data() + tensor.name.size();
    const auto [read, error] = std::from_chars(tensor.name.data(), end, question, 16);
    if (values == nullptr || error != std::errc() || read != end) {
      throw FileError(fmt::format("{}: \"{}\" is not an answer of doubles", plan_.path.string(), tensor.name));
    }
    known_.emplace(question, *values);
  }
}

std::uint64_t Answers::question(const simulate::TransitionRows& rows, const Streams& streams, std::size_t first_block) {
  std::uint64_t hash = 14695981039346656037U ^ streams.child("question", first_block).seed();
  for (const ConstMatrixView part : {ConstMatrixView(rows.theta), ConstMatrixView(rows.x), ConstMatrixView(rows.time),
                                     ConstMatrixView(rows.step), ConstMatrixView(rows.u)}) {
    for (std::size_t r = 0; r < part.rows; ++r) hash = hashed(hash, part.row(r));
  }
  return hash;
}

bool Answers::recall(std::uint64_t question, MatrixView x_next) {
  const auto found = known_.find(question);
  if (found == known_.end() || found->second.size() != x_next.rows * x_next.cols) return false;
  for (std::size_t r = 0; r < x_next.rows; ++r) {
    std::copy_n(found->second.begin() + static_cast<std::ptrdiff_t>(r * x_next.cols), x_next.cols,
                x_next.row(r).begin());
  }
  recalled_ += x_next.rows;
  return true;
}

void Answers::keep(std::uint64_t question, ConstMatrixView x_next, double seconds) {
  if (plan_.path.empty() || !writes_ || seconds < plan_.worth) return;
  std::vector<double>& values = known_[question];
  values.clear();
  for (std::size_t r = 0; r < x_next.rows; ++r) values.insert(values.end(), x_next.row(r).begin(), x_next.row(r).end());
  changed_ = true;
  if (last_saved_.seconds() >= plan_.every) save();
}

void Answers::save() {
  if (!changed_) return;
  files::TensorFile file;
  file.metadata = {{"kind", kind}};
  for (const auto& [question, values] : known_) {
    file.tensors.push_back({fmt::format("{:016x}", question), {values.size()}, values});
  }
  files::write_safetensors(plan_.path, file);
  changed_ = false;
  last_saved_ = Stopwatch();
}

}  // namespace catena::sample
