#include "sampler_flags.h"

#include <fmt/format.h>

#include "catena/sample/posterior.h"

namespace catena::cli {

void SamplerFlags::add_to(CLI::App& app) {
  for (const sample::PosteriorSampler& sampler : sample::posterior_samplers()) {
    flags_.add(sampler.name, sampler.settings);
  }
  flags_.declare(app, "Options of the methods");
}

nlohmann::json SamplerFlags::values(std::string_view function, const std::string& method) const {
  const sample::PosteriorSampler& sampler = sample::posterior_samplers().at(function, method);
  return flags_.values(function, fmt::format("the method {}", method), sampler.settings);
}

}  // namespace catena::cli
