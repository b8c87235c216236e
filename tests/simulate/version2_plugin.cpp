// A plug-in as it was compiled with the second version of catena_simulator.h, whose structs stand here under their own
// names (a sanitizer compares them across the call): order 2, x' = x^t − x^(t−1) + a.
#include <cstddef>

struct catena_description {
  std::size_t size;
  const char* name;
  std::size_t states;
  const char* const* state_names;
  const double* initial_state;
  const char* prior_json;
  const char* proposal_json;
  int uses_time;
  std::size_t order;
  int uses_step;
  int initial_depends_on_theta;
};
struct catena_step_input {
  std::size_t size, parameters, states, lanes, stride;
  const double *theta, *state, *time, *step;
};
struct catena_random;
namespace {
const char* const state_names[] = {"x"};
const catena_description description = {
    sizeof(catena_description),
    "second",
    1,
    state_names,
    nullptr,
    R"({"factors": [{"family": "normal", "names": ["a"]}]})",
    R"({"proposal": "fixed", "states": {"factors": [{"family": "normal", "names": ["x"]}]}})",
    0,
    2,
    0,
    0};
}  // namespace

extern "C" __attribute__((visibility("default"))) int catena_plugin_version(void) { return 2; }
extern "C" __attribute__((visibility("default"))) const catena_description* catena_plugin_describe(void) {
  return &description;
}
extern "C" __attribute__((visibility("default"))) int catena_plugin_step(const catena_step_input* input, catena_random*,
                                                                         double* next, char*, std::size_t) {
  for (std::size_t l = 0; l < input->lanes; ++l) {
    next[l] = input->state[l] - input->state[input->stride + l] + input->theta[l];
  }
  return 0;
}
