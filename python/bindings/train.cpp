// Training and trained models.

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <optional>

#include "binding.h"
#include "catena/core/parallel.h"
#include "catena/model/preset.h"
#include "catena/model/trained_model.h"
#include "catena/sample/posterior.h"
#include "catena/train/joined_sets.h"
#include "catena/train/recipe.h"

namespace catena::python {
namespace {

using model::TrainedModel;

/// Transitions or whole series that are in memory; without either they are those of the file.
train::TrainingData data_of(const train::Method& method, const simulate::TransitionSet* set,
                            const simulate::SeriesSet* series, const std::string& file, const train::Split& split) {
  if (series != nullptr) return {*series, split};
  if (set != nullptr) return {*set, split};
  return train::training_data(method, {file}, split);
}

std::shared_ptr<TrainedModel> train_model(const std::string& method, const simulate::TransitionSet* set,
                                          const simulate::SeriesSet* series, const std::string& file,
                                          const std::string& settings, const std::string& loop,
                                          std::optional<double> held_out, std::uint64_t seed, int threads,
                                          bool show_progress, const std::string& checkpoint, double checkpoint_seconds,
                                          bool resume) {
  std::shared_ptr<TrainedModel> model;
  nlohmann::json named = parse(settings);
  named.update(parse(loop));
  run(show_progress, [&](Progress& progress) {
    const train::Method& entry = train::methods().at("train", method);
    const train::Split split = train::split_of("train", entry, named, held_out);
    train::TrainingData data = data_of(entry, set, series, file, split);
    const train::Recipe recipe = train::recipe_of("train", entry, named, data.training_size());
    const train::MethodContext context{.data = data,
                                       .loop = recipe.loop,
                                       .settings = recipe.settings,
                                       .streams = Streams(seed),
                                       .parallel = Parallel(threads),
                                       .progress = progress,
                                       .checkpoint = {checkpoint, checkpoint_seconds, resume},
                                       .preset = recipe.preset};
    model = std::make_shared<TrainedModel>(train::train(method, context));
    train::remove_checkpoints(context);
  });
  return model;
}

/// What a repr, a plot and a user who looks for diverged networks need.
nlohmann::json describe(const TrainedModel& model) {
  nlohmann::json networks = nlohmann::json::object();
  for (const auto& [name, network] : model.networks) {
    networks[name] = {{"outcome", catena::name(network.outcome)},
                      {"steps", network.steps},
                      {"best_step", network.best_step},
                      {"held_out_loss", network.held_out_loss},
                      {"weights", model::weight_count(network)},
                      {"learning_curve",
                       {{"step", network.curve.step},
                        {"train_loss", network.curve.train_loss},
                        {"held_out_loss", network.curve.held_out_loss},
                        {"seconds", network.curve.seconds}}}};
  }
  return {{"method", model.method},
          {"preset", model.preset},
          {"settings", model.settings},
          {"training", model.training},
          {"seed", model.seed},
          {"state_names", model.state_names},
          {"covariate_names", model.covariate_names},
          {"uses_time", model.features.uses_time()},
          {"uses_step", model.features.uses_step()},
          {"order", model.features.shape().order},
          {"transitions", model.provenance},
          {"notes", model.notes},
          {"main_network", model.main_network},
          {"networks", networks}};
}

}  // namespace

void bind_train(nb::module_& m) {
  nb::class_<TrainedModel>(m, "Model")
      .def_ro("method", &TrainedModel::method)
      .def_ro("prior", &TrainedModel::prior)
      .def("record_shape",
           [](const TrainedModel& model) {
             const simulate::RecordShape shape = model.record_shape();
             return text({{"states", shape.states},
                          {"order", shape.order},
                          {"block", shape.block},
                          {"time", shape.time},
                          {"step", shape.step},
                          {"covariates", shape.covariates}});
           })
      .def("describe", [](const TrainedModel& model) { return text(describe(model)); })
      .def("write",
           [](const TrainedModel& model, const std::string& path) {
             const nb::gil_scoped_release release;
             model::write_model(path, model);
           })
      .def("to_bytes", [](const TrainedModel& model) {
        const std::string bytes = model::model_bytes(model);
        return nb::bytes(bytes.data(), bytes.size());
      });
  m.def("read_model", [](const std::string& path) {
    const nb::gil_scoped_release release;
    return std::make_shared<TrainedModel>(model::read_model(path));
  });
  m.def("parse_model", [](const nb::bytes& bytes) {
    return std::make_shared<TrainedModel>(model::parse_model({bytes.c_str(), bytes.size()}, "the pickled model"));
  });
  m.def("train", &train_model, "method"_a, "transitions"_a.none(), "series"_a.none(), "file"_a, "settings"_a, "loop"_a,
        "held_out"_a.none(), "seed"_a, "threads"_a, "show_progress"_a, "checkpoint"_a, "checkpoint_seconds"_a,
        "resume"_a);
  m.def(
      "join_transitions",
      [](const std::string& method, const std::vector<const simulate::TransitionSet*>& given) {
        std::vector<simulate::TransitionSet> sets;
        std::vector<std::string> names;
        const nb::gil_scoped_release release;
        for (const simulate::TransitionSet* set : given) {
          sets.push_back(*set);
          names.push_back(fmt::format("the transitions no. {}", sets.size()));
        }
        return train::joined_transitions(std::move(sets), names, train::methods().at("train", method).any_prior);
      },
      "method"_a, "sets"_a);
  m.def(
      "join_series",
      [](const std::vector<const simulate::SeriesSet*>& given) {
        std::vector<simulate::SeriesSet> sets;
        std::vector<std::string> names;
        const nb::gil_scoped_release release;
        for (const simulate::SeriesSet* set : given) {
          sets.push_back(*set);
          names.push_back(fmt::format("the series no. {}", sets.size()));
        }
        return train::joined_series(sets, names);
      },
      "sets"_a);
  m.def("methods", [] {
    nlohmann::json list = nlohmann::json::array();
    for (const train::Method& method : train::methods()) {
      list.push_back({{"name", method.name},
                      {"help", method.help},
                      {"settings", to_json(method.settings)},
                      {"any_prior", method.any_prior},
                      {"whole_series", method.whole_series},
                      {"density", sample::posterior_samplers().at("methods", method.name).target != nullptr}});
    }
    return text(list);
  });
  m.def("preset_names", &model::preset_names);
  m.def("worth_naming", [](const std::string& method, const std::string& settings) {
    return text(worth_naming(train::methods().at("train", method).settings, parse(settings)));
  });
  m.def("loop_settings",
        [] { return text(to_json(std::span<const FieldInfo>(describe_fields<train::LoopSettings>()))); });
}

}  // namespace catena::python
