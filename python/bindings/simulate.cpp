// Priors, transition sets, and simulating them with a task's or the user's simulator.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "binding.h"
#include "catena/core/check.h"
#include "catena/prior/around.h"
#include "catena/prior/prior.h"
#include "catena/sample/posteriors/around.h"
#include "catena/simulate/proposal.h"
#include "catena/simulate/records/record_plan.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_simulation.h"
#include "catena/tasks/task.h"
#include "python_model.h"

namespace catena::python {
namespace {

using prior::Prior;
using simulate::TransitionSet;

void check_columns(std::string_view function, const Rows& rows, std::size_t columns) {
  check::equal(function, "the number of columns", rows.shape(1), columns);
}

Array sample_prior(const Prior& prior, std::size_t count, std::uint64_t seed) {
  Matrix theta(count, prior.size());
  {
    const nb::gil_scoped_release release;
    Matrix z(count, prior.size());
    Stream stream = Streams(seed).stream("prior");
    stream.fill_normal(z.values());
    for (std::size_t r = 0; r < count; ++r) prior.to_theta(z.row(r), theta.row(r));
  }
  return to_numpy(std::move(theta));
}

Array prior_log_prob(const Prior& prior, const Rows& theta) {
  check_columns("prior.log_prob", theta, prior.size());
  std::vector<double> result(theta.shape(0));
  {
    const nb::gil_scoped_release release;
    for (std::size_t r = 0; r < result.size(); ++r) result[r] = prior.log_density(view(theta).row(r));
  }
  return to_numpy(std::move(result));
}

/// What a simulator sees of each row of θ.
Array completed(const Prior& prior, const Rows& theta) {
  check_columns("prior.complete", theta, prior.size());
  Matrix seen(theta.shape(0), prior.seen_names().size());
  for (std::size_t r = 0; r < seen.rows(); ++r) prior.complete(view(theta).row(r), seen.row(r));
  return to_numpy(std::move(seen));
}

/// One of the two maps between z and θ, row by row.
template <auto map>
Array mapped(const Prior& prior, const Rows& from) {
  check_columns("prior", from, prior.size());
  Matrix to(from.shape(0), prior.size());
  {
    const nb::gil_scoped_release release;
    for (std::size_t r = 0; r < to.rows(); ++r) map(prior, view(from).row(r), to.row(r));
  }
  return to_numpy(std::move(to));
}

constexpr auto to_theta = [](const Prior& p, std::span<const double> z, std::span<double> theta) {
  p.to_theta(z, theta);
};
constexpr auto to_z = [](const Prior& p, std::span<const double> theta, std::span<double> z) { p.to_z(theta, z); };

TransitionSet make_set(const Prior& prior, const Rows& theta, const Rows& x, const Rows& x_next, const Rows& time,
                       const Rows& step, const Rows& u, std::vector<std::string> state_names,
                       std::vector<std::string> covariate_names, const std::string& provenance) {
  TransitionSet set;
  set.theta = copy(theta);
  set.x = copy(x);
  set.x_next = copy(x_next);
  set.time = copy(time);
  set.step = copy(step);
  set.u = copy(u);
  set.prior = prior;
  set.state_names = std::move(state_names);
  set.covariate_names = std::move(covariate_names);
  set.provenance = parse(provenance);
  const nb::gil_scoped_release release;
  set.z = Matrix(set.theta.rows(), set.theta.cols());
  for (std::size_t r = 0; r < set.z.rows(); ++r) prior.to_z(set.theta.row(r), set.z.row(r));
  return set;
}

/// What Python asks for, as JSON: everything of the plan but its series, tables of covariates and callables.
simulate::SimulationPlan plan_of(const std::string& given, const std::vector<Rows>& target,
                                 const std::vector<Numbers>& target_times, const std::vector<Rows>& covariates) {
  const nlohmann::json json = parse(given);
  simulate::SimulationPlan plan;
  plan.proposal = json.at("proposal");
  plan.budget = json.at("budget").get<std::uint64_t>();
  plan.seed = json.at("seed").get<std::uint64_t>();
  plan.max_invalid = json.at("max_invalid").get<double>();
  plan.options = json.at("options");
  plan.lanes = json.at("lanes").get<std::size_t>();
  plan.chunk_rows = json.at("chunk_rows").get<std::size_t>();
  plan.records = simulate::record_plan("simulate", json.at("records"));
  plan.target = views_of(target, target_times, {});
  for (const Rows& table : covariates) plan.covariates.push_back(view(table));
  return plan;
}

/// Transitions, whole series, or neither if they went to a file; and the record.
using Simulated = std::tuple<std::optional<TransitionSet>, std::optional<simulate::SeriesSet>, std::string>;

/// What Python asks for of whole series; none: single transitions.
std::optional<simulate::SeriesPlan> series_plan_of(const std::string& given) {
  const nlohmann::json series = parse(given).value("series", nlohmann::json());
  if (series.is_null()) return std::nullopt;
  return simulate::SeriesPlan{series.at("transitions").get<std::size_t>(), series.at("from_initial").get<bool>()};
}

/// Transitions go to a file if there is a path. `inline_calls`: the simulator is Python and wants to be called on this
/// very thread.
Simulated simulate_model(const simulate::Model& model, const simulate::SimulationPlan& plan,
                         const std::optional<simulate::SeriesPlan>& whole, const std::string& path, bool resume,
                         int threads, bool show_progress, bool inline_calls) {
  std::optional<TransitionSet> set;
  std::optional<simulate::SeriesSet> series;
  nlohmann::json provenance;
  const auto work = [&](Progress& progress) {
    if (whole) {
      series = simulate::simulate_series_set(model, plan, *whole, Parallel(threads), progress);
      provenance = series->provenance;
    } else if (path.empty()) {
      set = simulate::simulate(model, plan, Parallel(threads), progress);
      provenance = set->provenance;
    } else {
      const simulate::SimulationInfo info =
          simulate::simulate_to_file(path, model, plan, Parallel(threads), progress, resume);
      provenance = info.provenance;
      if (info.failed_blocks > 0) {
        provenance["failed_blocks"] = info.failed_blocks;
        provenance["first_failure"] = info.first_failure;
      }
    }
  };
  if (inline_calls) {
    CallProgress progress(show_progress);
    const nb::gil_scoped_release release;
    work(progress);
  } else {
    run(show_progress, work);
  }
  return {std::move(set), std::move(series), text(provenance)};
}

}  // namespace

void bind_simulate(nb::module_& m) {
  nb::class_<Prior>(m, "Prior")
      .def_static("from_json", [](const std::string& given) { return Prior::from_json("prior", parse(given)); })
      .def("to_json", [](const Prior& prior) { return text(prior.to_json()); })
      .def_prop_ro("names", &Prior::names)
      .def_prop_ro("seen_names", &Prior::seen_names)
      .def("complete", &completed, "theta"_a)
      .def("sample", &sample_prior, "count"_a, "seed"_a)
      .def("log_prob", &prior_log_prob, "theta"_a)
      .def("to_theta", &mapped<to_theta>, "z"_a)
      .def("to_z", &mapped<to_z>, "theta"_a)
      .def(
          "around",
          [](const Prior& prior, const Rows& theta, double widen) {
            return sample::fit_around("prior.around", prior, view(theta), widen).prior();
          },
          "theta"_a, "widen"_a)
      .def_prop_ro("base", [](const Prior& prior) { return prior::TruePrior(prior).prior(); });

  // NOLINTNEXTLINE(bugprone-unused-raii): registers the class
  nb::class_<simulate::Model>(m, "Simulator");  // a task is one, and what python_simulator makes

  m.def("prior_families", [] { return prior::prior_families().names(); });
  m.def("proposals", [] {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& entry : simulate::proposals()) {
      list.push_back({{"name", entry.name}, {"help", entry.help}, {"settings", to_json(entry.settings)}});
    }
    return text(list);
  });

  const auto member = [](Matrix TransitionSet::* which) {
    return [which](nb::handle self) { return view_of(nb::cast<const TransitionSet&>(self).*which, self); };
  };
  nb::class_<TransitionSet>(m, "TransitionSet")
      .def_prop_ro("z", member(&TransitionSet::z))
      .def_prop_ro("theta", member(&TransitionSet::theta))
      .def_prop_ro("x", member(&TransitionSet::x))
      .def_prop_ro("x_next", member(&TransitionSet::x_next))
      .def_prop_ro("time", member(&TransitionSet::time))
      .def_prop_ro("step", member(&TransitionSet::step))
      .def_prop_ro("u", member(&TransitionSet::u))
      .def_ro("prior", &TransitionSet::prior)
      .def_ro("state_names", &TransitionSet::state_names)
      .def_ro("covariate_names", &TransitionSet::covariate_names)
      .def_prop_ro("provenance", [](const TransitionSet& set) { return text(set.provenance); })
      .def("__len__", &TransitionSet::size)
      .def("write", [](const TransitionSet& set, const std::string& path) {
        const nb::gil_scoped_release release;
        simulate::write_transitions(path, set);
      });
  m.def("make_transitions", &make_set, "prior"_a, "theta"_a, "x"_a, "x_next"_a, "time"_a, "step"_a, "u"_a,
        "state_names"_a, "covariate_names"_a, "provenance"_a);
  using simulate::TransitionFile;
  nb::class_<TransitionFile>(m, "TransitionFile")
      .def("__init__", [](TransitionFile* file, const std::string& path) { new (file) TransitionFile(path); })
      .def_prop_ro("prior", &TransitionFile::prior)
      .def_prop_ro("state_names", &TransitionFile::state_names)
      .def_prop_ro("covariate_names", &TransitionFile::covariate_names)
      .def_prop_ro("provenance", [](const TransitionFile& file) { return text(file.provenance()); })
      .def("__len__", &TransitionFile::size)
      .def("read", [](const TransitionFile& file) {
        const nb::gil_scoped_release release;
        return file.read(0, file.size());
      });

  bind_series(m);
  m.def(
      "simulate_task",
      [](const tasks::Task& task, const std::optional<Prior>& prior, const std::string& plan,
         const std::vector<Rows>& target, const std::vector<Numbers>& target_times, const std::vector<Rows>& covariates,
         const std::string& path, bool resume, int threads, bool show_progress) {
        simulate::Model model = task;
        if (prior) model.prior = *prior;
        return simulate_model(model, plan_of(plan, target, target_times, covariates), series_plan_of(plan), path,
                              resume, threads, show_progress, false);
      },
      "task"_a, "prior"_a.none(), "plan"_a, "target"_a, "target_times"_a, "covariates"_a, "path"_a, "resume"_a,
      "threads"_a, "show_progress"_a);
  m.def(
      "simulate_python",
      [](const std::string& name, const Prior& prior, std::vector<std::string> state_names, nb::handle step,
         nb::handle initial_state, nb::handle proposal, const std::string& proposal_record, const std::string& declared,
         const std::string& plan, const std::vector<Rows>& target, const std::vector<Numbers>& target_times,
         const std::vector<Rows>& covariates, const std::string& path, bool resume, int threads, bool show_progress) {
        simulate::SimulationPlan all = plan_of(plan, target, target_times, covariates);
        if (!proposal.is_none()) all.own_proposal = python_proposal(proposal, parse(proposal_record));
        return simulate_model(python_model(name, prior, std::move(state_names), step, initial_state, parse(declared)),
                              all, series_plan_of(plan), path, resume, threads, show_progress, threads == 1);
      },
      "name"_a, "prior"_a, "state_names"_a, "step"_a, "initial_state"_a.none(), "proposal"_a.none(),
      "proposal_record"_a, "declared"_a, "plan"_a, "target"_a, "target_times"_a, "covariates"_a, "path"_a, "resume"_a,
      "threads"_a, "show_progress"_a);
}

}  // namespace catena::python
