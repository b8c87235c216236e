/* A simulator as a plug-in, in C: the Ornstein-Uhlenbeck process dx = -rate (x - mean) dt + sd dw, observed every
 * dt = 0.1, or at any other times (its transition is exact for steps of any length, and it says so by uses_step):
 *
 *   x' = mean + (x - mean) e^(-rate dt) + sd sqrt((1 - e^(-2 rate dt)) / (2 rate)) noise.
 *
 *   cc -shared -fPIC -I src/catena/simulate examples/plugin/ornstein_uhlenbeck.c -o libou.so -lm
 *   catena simulate --plugin libou.so --budget 10000 --seed 1 -o transitions.nc
 *   catena simulate --plugin libou.so --budget 10000 --seed 1 --gaps 0.5..20 -o irregular.nc    (dt from 0.05 to 2) */
#include <math.h>

#include "catena_simulator.h"

static const char* const state_names[] = {"x"};
static const double initial_state[] = {0.0};

static const catena_description description = {
    .size = sizeof(catena_description),
    .name = "ornstein_uhlenbeck",
    .states = 1,
    .state_names = state_names,
    .initial_state = initial_state,
    .prior_json =
        "{\"factors\": [{\"family\": \"uniform\", \"names\": [\"rate\"], \"low\": 0.1, \"high\": 2},"
        " {\"family\": \"normal\", \"names\": [\"mean\"], \"mean\": 0, \"sd\": 1},"
        " {\"family\": \"half_normal\", \"names\": [\"sd\"], \"sd\": 1}]}",
    .proposal_json =
        "{\"proposal\": \"fixed\", \"states\": {\"factors\":"
        " [{\"family\": \"normal\", \"names\": [\"x\"], \"mean\": 0, \"sd\": 3}]}}",
    .uses_time = 0,
    .order = 1,
    .uses_step = 1,
};

int catena_plugin_version(void) { return CATENA_PLUGIN_VERSION; }

const catena_description* catena_plugin_describe(void) { return &description; }

int catena_plugin_step(const catena_step_input* input, catena_random* random, double* next, char* message,
                       size_t message_size) {
  const double* rate = input->theta;
  const double* mean = input->theta + input->stride;
  const double* sd = input->theta + 2 * input->stride;
  size_t l;
  (void)message; /* nothing can fail here */
  (void)message_size;
  random->normal(random->context, next, input->lanes);
  for (l = 0; l < input->lanes; ++l) {
    const double dt = 0.1 * input->step[l];
    const double spread = sd[l] * sqrt(-expm1(-2 * rate[l] * dt) / (2 * rate[l]));
    next[l] = mean[l] + (input->state[l] - mean[l]) * exp(-rate[l] * dt) + spread * next[l];
  }
  return 0;
}
