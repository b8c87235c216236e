// A plug-in as it was compiled with the first version of catena_simulator.h, whose structs stand here: x' = x + a.
#include <cstddef>

namespace {
struct description_1 {
  std::size_t size;
  const char* name;
  std::size_t states;
  const char* const* state_names;
  const double* initial_state;
  const char* prior_json;
  const char* proposal_json;
  int uses_time;
};
struct step_input_1 {
  std::size_t size, parameters, states, lanes, stride;
  const double *theta, *state, *time;
};
const char* const state_names[] = {"x"};
const description_1 description = {
    sizeof(description_1),
    "first",
    1,
    state_names,
    nullptr,
    R"({"factors": [{"family": "normal", "names": ["a"]}]})",
    R"({"proposal": "fixed", "states": {"factors": [{"family": "normal", "names": ["x"]}]}})",
    0};
}  // namespace

extern "C" __attribute__((visibility("default"))) int catena_plugin_version(void) { return 1; }
extern "C" __attribute__((visibility("default"))) const description_1* catena_plugin_describe(void) {
  return &description;
}
extern "C" __attribute__((visibility("default"))) int catena_plugin_step(const step_input_1* input, void*, double* next,
                                                                         char*, std::size_t) {
  for (std::size_t l = 0; l < input->lanes; ++l) next[l] = input->state[l] + input->theta[l];
  return 0;
}
