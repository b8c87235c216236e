// A plug-in of the third version with two covariates: x' = x + a·light + food.
#include "catena/simulate/catena_simulator.h"

namespace {
const char* const state_names[] = {"x"};
const char* const covariate_names[] = {"light", "food"};
const catena_description description = {
    sizeof(catena_description),
    "fed",
    1,
    state_names,
    nullptr,
    R"({"factors": [{"family": "normal", "names": ["a"]}]})",
    R"({"proposal": "fixed", "states": {"factors": [{"family": "normal", "names": ["x"]}]}})",
    0,
    1,
    0,
    0,
    2,
    covariate_names};
}  // namespace

extern "C" int catena_plugin_version(void) { return CATENA_PLUGIN_VERSION; }
extern "C" const catena_description* catena_plugin_describe(void) { return &description; }

extern "C" int catena_plugin_step(const catena_step_input* input, catena_random*, double* next, char*, size_t) {
  if (input->covariates != 2) return 1;
  for (size_t l = 0; l < input->lanes; ++l) {
    next[l] = input->state[l] + input->theta[l] * input->covariate[l] + input->covariate[input->stride + l];
  }
  return 0;
}
