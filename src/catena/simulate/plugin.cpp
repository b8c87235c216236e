#include "catena/simulate/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "catena/core/check.h"
#include "catena/simulate/catena_simulator.h"

namespace catena::simulate {

namespace {

/// Calls a function of the plug-in; what it throws becomes a sentence (a C interface should not, but C++ can).
template <class Call>
auto guarded(const std::string& path, const char* function, Call call) {
  try {
    return call();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(fmt::format("plugin: {} of {} threw an exception: {}", function, path, error.what()));
  } catch (...) {
    throw InputError(fmt::format("plugin: {} of {} threw something that is no std::exception", function, path));
  }
}

/// An open library and its functions.
class Library {
 public:
  explicit Library(const std::filesystem::path& file) : path_(file.string()) {
    // A name without a slash would be searched for in the system's directories.
    const std::string name = path_.find('/') == std::string::npos ? "./" + path_ : path_;
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw FileError(fmt::format("plugin: {} cannot be loaded: {}", path_, ::dlerror()));
    try {
      const auto version = symbol<int (*)()>("catena_plugin_version");
      version_ = guarded(path_, "catena_plugin_version", [&] { return version(); });
      check::that(
          version_ >= 1 && version_ <= CATENA_PLUGIN_VERSION, "plugin",
          fmt::format("the interface version of {}", path_), version_,
          fmt::format("{} or earlier: compile it with this catena's catena_simulator.h", CATENA_PLUGIN_VERSION));
      describe_ = symbol<const catena_description* (*)()>("catena_plugin_describe");
      step_ = symbol<decltype(&catena_plugin_step)>("catena_plugin_step");
    } catch (...) {
      ::dlclose(handle_);
      throw;
    }
  }
  ~Library() { ::dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& path() const { return path_; }
  void find_initial() { initial_ = symbol<decltype(&catena_plugin_initial)>("catena_plugin_initial"); }
  catena_description describe() const {
    const catena_description* description = guarded(path_, "catena_plugin_describe", [&] { return describe_(); });
    check::that(description != nullptr, "plugin", fmt::format("the description of {}", path_), "null", "given");
    check::at_least("plugin", fmt::format("the size of the description of {}", path_), description->size,
                    version_ == 1   ? offsetof(catena_description, order)
                    : version_ == 2 ? offsetof(catena_description, covariates)
                                    : sizeof(catena_description));
    // What a plug-in of an earlier version does not know of is zero.
    catena_description whole{};
    std::memcpy(&whole, description, std::min(description->size, sizeof(whole)));
    if (whole.order == 0) whole.order = 1;
    return whole;
  }

  void step(const StepInput& input, Stream& stream, StateBlock next) const {
    catena_random random = random_of(stream);
    CATENA_ASSERT(input.theta.stride == next.stride && input.state.stride == next.stride);
    CATENA_ASSERT(input.covariates.features == 0 || input.covariates.stride == next.stride);
    const catena_step_input given{sizeof(catena_step_input),
                                  input.theta.features,
                                  input.state.features,
                                  next.lanes,
                                  next.stride,
                                  input.theta.data,
                                  input.state.data,
                                  input.time,
                                  input.step,
                                  input.covariates.features,
                                  input.covariates.features > 0 ? input.covariates.data : nullptr};
    call("catena_plugin_step",
         [&](char* message, std::size_t size) { return step_(&given, &random, next.data, message, size); });
  }

  void initial(ConstStateBlock theta, Stream& stream, StateBlock window, std::size_t states) const {
    catena_random random = random_of(stream);
    CATENA_ASSERT(theta.stride == window.stride);
    const catena_step_input given{sizeof(catena_step_input),
                                  theta.features,
                                  states,
                                  window.lanes,
                                  window.stride,
                                  theta.data,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  0,
                                  nullptr};
    call("catena_plugin_initial",
         [&](char* message, std::size_t size) { return initial_(&given, &random, window.data, message, size); });
  }

 private:
  static catena_random random_of(Stream& stream) {
    return {
        &stream,
        [](void* context, double* out, std::size_t count) { static_cast<Stream*>(context)->fill_normal({out, count}); },
        [](void* context, double* out, std::size_t count) {
          static_cast<Stream*>(context)->fill_uniform({out, count});
        }};
  }

  /// Calls a function that fails with a code and a sentence.
  template <class Function>
  void call(const char* name, const Function& function) const {
    std::array<char, 512> message{};
    const int status = guarded(path_, name, [&] { return function(message.data(), message.size()); });
    if (status == 0) return;
    message.back() = 0;
    throw InputError(fmt::format("plugin: {} of {} failed with code {}: {}", name, path_, status,
                                 message[0] == 0 ? "it gave no reason" : message.data()));
  }

  template <class Function>
  Function symbol(const char* name) const {
    void* found = ::dlsym(handle_, name);
    if (found == nullptr) {
      throw InputError(fmt::format("plugin: {} has no function {}, which a catena plug-in must have", path_, name));
    }
    return reinterpret_cast<Function>(found);
  }

  std::string path_;
  void* handle_ = nullptr;
  int version_ = 0;
  const catena_description* (*describe_)() = nullptr;
  decltype(&catena_plugin_step) step_ = nullptr;
  decltype(&catena_plugin_initial) initial_ = nullptr;  // only if the description says so
};

nlohmann::json parse(const std::string& path, const char* what, const char* text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  check::that(!json.is_discarded(), "plugin", fmt::format("{} of {}", what, path), "no JSON", "JSON");
  return json;
}

}  // namespace

Model load_plugin(const std::filesystem::path& file) {
  const auto library = std::make_shared<Library>(file);
  const catena_description description = library->describe();
  const std::string& path = library->path();
  const auto given = [&](const void* pointer, const char* what) {
    check::that(pointer != nullptr, "plugin", fmt::format("{} of {}", what, path), "null", "given");
  };
  given(description.name, "name");
  given(static_cast<const void*>(description.state_names), "state_names");
  given(description.prior_json, "prior_json");
  check::between("plugin", fmt::format("states of {}", path), description.states, std::size_t{1},
                 std::size_t{10000000});

  Model model;
  model.prior = prior::Prior::from_json("plugin", parse(path, "prior_json", description.prior_json));
  check::at_least("plugin", fmt::format("the number of parameters of {}", path), model.prior.size(), std::size_t{1});
  model.simulator.name = description.name;
  model.simulator.parameter_names = model.prior.names();
  for (std::size_t i = 0; i < description.states; ++i) {
    given(description.state_names[i], "a name in state_names");
    model.simulator.state_names.emplace_back(description.state_names[i]);
  }
  model.simulator.uses_time = description.uses_time != 0;
  model.simulator.uses_step = description.uses_step != 0;
  check::between("plugin", fmt::format("order of {}", path), description.order, std::size_t{1}, std::size_t{1000});
  model.simulator.order = description.order;
  check::between("plugin", fmt::format("covariates of {}", path), description.covariates, std::size_t{0},
                 std::size_t{10000});
  if (description.covariates > 0) given(static_cast<const void*>(description.covariate_names), "covariate_names");
  for (std::size_t i = 0; i < description.covariates; ++i) {
    given(description.covariate_names[i], "a name in covariate_names");
    model.simulator.covariate_names.emplace_back(description.covariate_names[i]);
  }
  const bool uses_step = model.simulator.uses_step;
  model.simulator.step = [library, uses_step](const StepInput& input, Stream& stream, StateBlock next) {
    if (!uses_step || input.step != nullptr) {
      library->step(input, stream, next);
      return;
    }
    thread_local AlignedVector<double> ones;  // whoever knows of no steps means single ones
    ones.resize(std::max(ones.size(), next.stride), 1.0);
    StepInput whole = input;
    whole.step = ones.data();
    library->step(whole, stream, next);
  };
  if (description.initial_state != nullptr) {
    std::vector<double> state(description.initial_state, description.initial_state + model.simulator.window());
    check::all_finite("plugin", "initial_state", state);
    model.initial_state = fixed_state(std::move(state));
  }
  if (description.initial_depends_on_theta != 0) {
    library->find_initial();
    model.initial_given_theta = [library, states = description.states](ConstStateBlock theta, Stream& stream,
                                                                       StateBlock window) {
      library->initial(theta, stream, window, states);
    };
  }
  if (description.proposal_json != nullptr) {
    model.proposal = parse(path, "proposal_json", description.proposal_json);
    if (model.proposal.is_object() && model.proposal.value("proposal", "") == "fixed") {
      model.fixed_proposal = model.proposal;
    }
  }
  complete_parameters(model);
  return model;
}

}  // namespace catena::simulate
