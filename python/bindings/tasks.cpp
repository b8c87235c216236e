// The built-in simulators: their description, one transition, test series and exact references.

#include "catena/tasks/task.h"

#include <optional>

#include "binding.h"
#include "catena/core/check.h"
#include "catena/core/parallel.h"
#include "catena/core/state_lanes.h"
#include "catena/evaluate/reference/reference.h"
#include "catena/simulate/plugin.h"
#include "catena/simulate/source.h"
#include "catena/tasks/likelihood.h"
#include "catena/tasks/observe.h"

namespace catena::python {
namespace {

using tasks::Task;

Task load_plugin(const std::string& path) {
  Task task;
  static_cast<simulate::Model&>(task) = simulate::load_plugin(path);
  task.name = task.simulator.name;
  task.options = nlohmann::json::object();
  return task;
}

/// x^(t+1) for every row; blocks have a random stream each, so that rows do not depend on threads.
Array step(const Task& task, const Rows& theta, const Rows& x, const Numbers& time, const Rows& u, std::uint64_t seed,
           int threads) {
  const simulate::Simulator& simulator = task.simulator;
  check::equal("step", "the number of columns of theta", theta.shape(1), simulator.parameters());
  check::equal("step", "the number of columns of x", x.shape(1), simulator.window());
  check::equal("step", "the number of rows of theta", theta.shape(0), x.shape(0));
  if (simulator.uses_time) check::equal("step", "the number of times", time.shape(0), x.shape(0));
  check::equal("step", "the number of columns of u", u.shape(1), simulator.covariates());
  check::equal("step", "the number of rows of u", u.shape(0), x.shape(0));
  Matrix next(x.shape(0), simulator.states());
  run(false, [&](Progress&) {
    const Streams streams(seed);
    Parallel(threads).for_blocks(
        x.shape(0), simulate::usual_lanes, [&](std::size_t begin, std::size_t end, std::size_t block) {
          const std::size_t lanes = end - begin;
          StateLanes parameters(theta.shape(1), lanes), state(x.shape(1), lanes), result(simulator.states(), lanes),
              covariates(u.shape(1), lanes);
          AlignedVector<double> times(padded_lanes(lanes), 0.0);
          for (std::size_t l = 0; l < lanes; ++l) {
            for (std::size_t i = 0; i < theta.shape(1); ++i) parameters(i, l) = view(theta)(begin + l, i);
            for (std::size_t i = 0; i < x.shape(1); ++i) state(i, l) = view(x)(begin + l, i);
            for (std::size_t i = 0; i < u.shape(1); ++i) covariates(i, l) = view(u)(begin + l, i);
            if (simulator.uses_time) times[l] = time.data()[begin + l];
          }
          Stream stream = streams.stream("step", block);
          simulator.step({parameters.view(), state.view(), simulator.uses_time ? times.data() : nullptr, nullptr,
                          covariates.view()},
                         stream, result);
          for (std::size_t l = 0; l < lanes; ++l) {
            for (std::size_t i = 0; i < next.cols(); ++i) next(begin + l, i) = result(i, l);
          }
        });
  });
  return to_numpy(std::move(next));
}

nb::dict observe(const Task& task, std::size_t transitions, std::uint64_t seed, const Numbers& theta,
                 const std::vector<Rows>& covariates) {
  tasks::Observation observation;
  std::vector<Matrix> tables;
  for (const Rows& table : covariates) tables.push_back(copy(table));
  {
    const nb::gil_scoped_release release;
    observation = tasks::observe("observe", task, transitions, seed, span(theta), tables);
  }
  nb::dict result;
  result["series"] = to_numpy(std::move(observation.series));
  result["times"] = to_numpy(std::move(observation.times));
  result["theta"] = to_numpy(std::move(observation.theta));
  result["covariates"] = to_numpy(std::move(observation.covariates));
  return result;
}

nb::dict reference(const Task& task, const Rows& series, const Rows& covariates, std::size_t n,
                   const std::string& settings, std::uint64_t seed, int threads, bool show_progress) {
  evaluate::Reference reference;
  const auto chosen = from_json<evaluate::ReferenceSettings>("reference", parse(settings));
  run(show_progress, [&](Progress& progress) {
    const auto likelihood = tasks::series_likelihood(task, view(series), view(covariates));
    reference =
        evaluate::sample_reference(*likelihood, task.prior, n, chosen, Streams(seed), Parallel(threads), progress);
  });
  nb::dict result;
  result["outcome"] = std::string(name(reference.outcome));
  result["method"] = reference.method;
  result["theta"] = to_numpy(std::move(reference.draws));
  return result;
}

}  // namespace

void bind_tasks(nb::module_& m) {
  nb::class_<Task, simulate::Model>(m, "Task")
      .def_ro("name", &Task::name)
      .def_ro("version", &Task::version)
      .def_prop_ro("options", [](const Task& task) { return text(task.options); })
      .def_prop_ro("prior", [](const Task& task) { return task.prior; })
      .def_prop_ro("state_names", [](const Task& task) { return task.simulator.state_names; })
      .def_prop_ro("covariate_names", [](const Task& task) { return task.simulator.covariate_names; })
      .def_prop_ro("covariates", [](nb::handle self) { return view_of(nb::cast<const Task&>(self).covariates, self); })
      .def_prop_ro("uses_time", [](const Task& task) { return task.simulator.uses_time; })
      .def("step", &step, "theta"_a, "x"_a, "time"_a, "u"_a, "seed"_a, "threads"_a)
      .def("observe", &observe, "transitions"_a, "seed"_a, "theta"_a, "covariates"_a)
      .def("reference", &reference, "series"_a, "covariates"_a, "n"_a, "settings"_a, "seed"_a, "threads"_a,
           "show_progress"_a);
  m.def("make_task",
        [](const std::string& name, const std::string& options) { return tasks::make_task(name, parse(options)); });
  m.def("load_plugin", &load_plugin);
  m.def("tasks", [] {
    nlohmann::json list = nlohmann::json::array();
    for (const tasks::TaskEntry& entry : tasks::registry()) {
      list.push_back({{"name", entry.name}, {"help", entry.help}, {"settings", to_json(entry.options)}});
    }
    return text(list);
  });
  m.def("reference_settings",
        [] { return text(to_json(std::span<const FieldInfo>(describe_fields<evaluate::ReferenceSettings>()))); });
}

}  // namespace catena::python
