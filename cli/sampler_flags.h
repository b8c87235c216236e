/// The settings of the methods' posterior samplers, for verbs that draw from posteriors.
#pragma once

#include <string>
#include <string_view>

#include "task_flags.h"

namespace catena::cli {

class SamplerFlags {
 public:
  /// One flag for every setting of every method.
  void add_to(CLI::App& app);
  /// Those that were given, for the sampler of `method`; throws InputError for one that it does not have.
  nlohmann::json values(std::string_view function, const std::string& method) const;

 private:
  ChoiceFlags flags_;
};

}  // namespace catena::cli
