// A plug-in that is wrong in one way, chosen when it is compiled: BROKEN_VERSION, BROKEN_SYMBOL, BROKEN_PRIOR,
// BROKEN_THROW, BROKEN_STATUS or BROKEN_NAN (every result is NaN).
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "catena/simulate/catena_simulator.h"

namespace {
const char* const state_names[] = {"x"};
#ifdef BROKEN_PRIOR
const char* const prior = R"({"factors": [{"family": "benford", "names": ["a"]}]})";
#else
const char* const prior = R"({"factors": [{"family": "normal", "names": ["a"]}]})";
#endif
const double initial_state[] = {0.0};
const catena_description description = {
    sizeof(catena_description),
    "broken",
    1,
    state_names,
    initial_state,
    prior,
    R"({"proposal": "fixed", "states": {"factors": [{"family": "normal", "names": ["x"]}]}})",
    0,
    1,
    0,
    0,
    0,
    nullptr};
}  // namespace

extern "C" int catena_plugin_version(void) {
#ifdef BROKEN_VERSION
  return CATENA_PLUGIN_VERSION + 41;
#else
  return CATENA_PLUGIN_VERSION;
#endif
}

extern "C" const catena_description* catena_plugin_describe(void) { return &description; }

#ifndef BROKEN_SYMBOL
extern "C" int catena_plugin_step(const catena_step_input* input, catena_random*, double* next, char* message,
                                  size_t size) {
#ifdef BROKEN_THROW
  throw std::runtime_error("the solver lost its way");
#endif
#ifdef BROKEN_STATUS
  std::snprintf(message, size, "the table of rates is missing");
  return 3;
#endif
  for (size_t l = 0; l < input->lanes; ++l) next[l] = NAN;
  static_cast<void>(message);
  static_cast<void>(size);
  return 0;
}
#endif
