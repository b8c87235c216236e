// A plug-in of order 2 whose first states depend on its parameter: x' = x^t − x^(t−1) + a, x⁰ = a, x¹ = 2a.
#include "catena/simulate/catena_simulator.h"

namespace {
const char* const state_names[] = {"x"};
const catena_description description = {
    sizeof(catena_description),
    "extended",
    1,
    state_names,
    nullptr,
    R"({"factors": [{"family": "normal", "names": ["a"]}]})",
    R"({"proposal": "fixed", "states": {"factors": [{"family": "normal", "names": ["x"]}]}})",
    0,
    2,
    0,
    1,
    0,
    nullptr};
}  // namespace

extern "C" int catena_plugin_version(void) { return CATENA_PLUGIN_VERSION; }
extern "C" const catena_description* catena_plugin_describe(void) { return &description; }

extern "C" int catena_plugin_step(const catena_step_input* input, catena_random*, double* next, char*, size_t) {
  for (size_t l = 0; l < input->lanes; ++l) {
    next[l] = input->state[l] - input->state[input->stride + l] + input->theta[l];
  }
  return 0;
}

extern "C" int catena_plugin_initial(const catena_step_input* input, catena_random*, double* window, char*, size_t) {
  for (size_t l = 0; l < input->lanes; ++l) {
    window[l] = 2 * input->theta[l];
    window[input->stride + l] = input->theta[l];
  }
  return 0;
}
