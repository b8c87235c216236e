// catena train transitions.nc --method fnle -o model.safetensors: fits the networks of a method to single transitions,
// or to whole series.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "catena/core/stopwatch.h"
#include "catena/train/joined_sets.h"
#include "catena/train/recipe.h"
#include "common.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view train_function = "catena train";

struct TrainOptions {
  Common common;
  ChoiceFlags method_settings;
  train::LoopSettings loop;
  nlohmann::json named_loop;  // what was given of it
  double held_out = train::Split{}.held_out;
  bool held_out_named = false;
  std::vector<std::filesystem::path> transitions;
  std::string method = train::default_method, output;
  double checkpoint_seconds = 60;
  bool resume = false;
};

nlohmann::json summary_of(const model::TrainedModel& model) {
  nlohmann::json networks = nlohmann::json::object();
  for (const auto& [name, network] : model.networks) {
    networks[name] = {{"outcome", catena::name(network.outcome)},
                      {"steps", network.steps},
                      {"best_step", network.best_step},
                      {"held_out_loss", network.held_out_loss},
                      {"weights", model::weight_count(network)}};
  }
  return networks;
}

int run_train(const TrainOptions& options) {
  const Stopwatch watch;
  const train::Method& method = train::methods().at(train_function, options.method);
  const auto progress = options.common.make_progress();
  nlohmann::json named =
      options.method_settings.values(train_function, fmt::format("the method {}", method.name), method.settings);
  named.update(options.named_loop);
  const train::Split split =
      train::split_of("train", method, named, options.held_out_named ? std::optional(options.held_out) : std::nullopt);
  train::TrainingData data = train::training_data(method, options.transitions, split);
  const train::Recipe recipe = train::recipe_of("train", method, named, data.training_size());
  const train::MethodContext context{.data = data,
                                     .loop = recipe.loop,
                                     .settings = recipe.settings,
                                     .streams = Streams(options.common.seed),
                                     .parallel = options.common.parallel(),
                                     .progress = *progress,
                                     .checkpoint = {options.output, options.checkpoint_seconds, options.resume},
                                     .preset = recipe.preset};
  const model::TrainedModel model = train::train(options.method, context);
  if (!options.common.writes()) return success;
  model::write_model(options.output, model);
  train::remove_checkpoints(context);

  Outcome outcome = Outcome::ok;
  for (const auto& [name, network] : model.networks) {
    if (network.outcome == Outcome::diverged) outcome = Outcome::diverged;
  }
  if (options.common.json) {
    print_json({{"output", options.output},
                {"method", options.method},
                {"preset", model.preset},
                {data.whole_series() ? "series" : "transitions", data.whole_series() ? data.series() : data.size()},
                {"networks", summary_of(model)},
                {"settings", model.settings},
                {"notes", model.notes},
                {"outcome", catena::name(outcome)},
                {"seconds", watch.seconds()}});
  } else if (!options.common.quiet) {
    for (const auto& [name, network] : model.networks) {
      fmt::print("{}: network {} with {} weights, held-out loss {:.4f} after {} of {} steps{}\n", options.output, name,
                 model::weight_count(network), network.held_out_loss, network.best_step, network.steps,
                 network.outcome == Outcome::time_limit ? " (time limit)" : "");
    }
  }
  return exit_code(train_function, outcome);
}

Run set_up_train(CLI::App& app) {
  const auto options = std::make_shared<TrainOptions>();
  app.add_option("transitions", options->transitions,
                 "file of transitions, from catena simulate, or of whole series for npe; several for the rounds of a "
                 "refinement")
      ->required()
      ->type_name("FILE");
  add_flag(app, options->method, "--method", "what to learn; fnle is the one to start with",
           one_of(train::methods().names()));
  app.add_option("-o,--output", options->output, "model file to write (safetensors)")->required()->type_name("FILE");
  add_flags(app, options->loop);
  add_flag(app, options->held_out, "--held-out",
           "share of the transitions that decides when to stop, 10,000 of them at most; a preset may have its own",
           between(0.001, 0.5));
  add_flag(app, options->checkpoint_seconds, "--checkpoint-seconds", "time between checkpoints", positive());
  app.add_flag("--resume", options->resume, "go on with the checkpoints of an interrupted run of the same settings");
  for (const train::Method& method : train::methods()) options->method_settings.add(method.name, method.settings);
  options->method_settings.declare(app, "Method options");
  add_rank_flags(app);
  add_common(app, options->common, Seeded::yes);
  return [options, &app] {
    options->named_loop = named_flags(app, options->loop);
    options->held_out_named = app.count("--held-out") > 0;
    return run_train(*options);
  };
}

}  // namespace

Verb train_verb() {
  return {"train", "fit the networks of a method to transitions, or to whole series", set_up_train, /*on_ranks=*/true};
}

}  // namespace catena::cli
