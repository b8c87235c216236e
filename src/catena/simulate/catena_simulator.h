/* The C interface of a simulator plug-in: a shared library that `catena simulate --plugin LIBRARY` loads.
 *
 * A plug-in defines the first three functions at the end of this file. Simulations lie along lanes: coordinate i of
 * simulation l stands at data[i * stride + l]. Any language that can make a C shared library will do; examples/plugin
 * shows one. */
#ifndef CATENA_SIMULATOR_H
#define CATENA_SIMULATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What catena_plugin_version() must return. Raised when anything below changes its meaning or is added to; plug-ins of
 * earlier versions still load. Version 2: order, uses_step, initial_depends_on_theta. Version 3: covariates. */
#define CATENA_PLUGIN_VERSION 3

#if defined(_WIN32)
#define CATENA_PLUGIN_EXPORT __declspec(dllexport)
#else
#define CATENA_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* What must be known about the simulator. All pointers stay valid as long as the library is loaded. */
typedef struct catena_description {
  size_t size;                    /* sizeof(catena_description), so that later versions can append */
  const char* name;               /* "ornstein_uhlenbeck" */
  size_t states;                  /* n */
  const char* const* state_names; /* n of them */
  const double* initial_state;    /* n numbers: x0 of a series; null if there is none. For an order m > 1: m n numbers,
                                     the first m states, latest first */
  const char* prior_json;         /* the prior, with the parameters' names:
                                     {"factors": [{"family": "uniform", "names": ["rate"], "low": 0.1, "high": 2}]} */
  const char*
      proposal_json;            /* the default proposal: {"proposal": "fixed", "states": {a prior on the states}} or
                                   {"proposal": "predictive", "noise": 0.1}; null for the usual one (docs: choosing a proposal) */
  int uses_time;                /* not 0: step reads the time of each lane */
  size_t order;                 /* m: how many of the last states a transition depends on; 0 counts as 1 */
  int uses_step;                /* not 0: step reads the length of the step of each lane */
  int initial_depends_on_theta; /* not 0: catena_plugin_initial draws the first m states, and initial_state is unused */
  size_t covariates;            /* k: known inputs that a transition takes; 0: none */
  const char* const* covariate_names; /* k of them: the columns of tables and series that hold them */
} catena_description;

/* One transition for many simulations at once. */
typedef struct catena_step_input {
  size_t size;             /* sizeof(catena_step_input) */
  size_t parameters;       /* d */
  size_t states;           /* n */
  size_t lanes;            /* simulations */
  size_t stride;           /* between coordinates, in doubles; at least lanes, the same for theta, state and next */
  const double* theta;     /* d x lanes */
  const double* state;     /* m n x lanes: x^t, then x^(t-1), ..., x^(t-m+1) */
  const double* time;      /* lanes: t; null unless uses_time */
  const double* step;      /* lanes: how much time the transition takes; null unless uses_step */
  size_t covariates;       /* k */
  const double* covariate; /* k x lanes: u_t; null unless there are covariates */
} catena_step_input;

/* Where all randomness must come from, so that the same seed gives the same data. Not for several threads. */
typedef struct catena_random {
  void* context;
  void (*normal)(void* context, double* out, size_t count);  /* standard normals */
  void (*uniform)(void* context, double* out, size_t count); /* between 0 and 1, both excluded */
} catena_random;

/* CATENA_PLUGIN_VERSION of the header that the plug-in was compiled with. */
CATENA_PLUGIN_EXPORT int catena_plugin_version(void);

CATENA_PLUGIN_EXPORT const catena_description* catena_plugin_describe(void);

/* Writes x^(t+1) to next (n x lanes) and returns 0. On failure returns anything else after writing one sentence to
 * message (message_size bytes with the final 0). May be called from several threads at once; a transition that has no
 * finite result is no failure: leave NaN in its lane. */
CATENA_PLUGIN_EXPORT int catena_plugin_step(const catena_step_input* input, catena_random* random, double* next,
                                            char* message, size_t message_size);

/* Only with initial_depends_on_theta: writes the first m states given theta to window (m n x lanes, latest first);
 * input has theta, but no state, time or step. Otherwise as catena_plugin_step. */
CATENA_PLUGIN_EXPORT int catena_plugin_initial(const catena_step_input* input, catena_random* random, double* window,
                                               char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
