#include "catena/train/methods/summary.h"

#include "catena/train/objectives/summarised.h"

namespace catena::train {
namespace {

/// `record` makes the density of the second stage, which the model calls `network`.
template <class Settings, class Record>
model::TrainedModel train_in_two_stages(std::string_view method, const std::string& network, Settings settings,
                                        const MethodContext& context, const Record& record) {
  model::TrainedModel model = series_model(method, context, settings.shortened, to_json(settings));
  std::vector<float> table;
  const DecaySearch search = series_search(settings, context, [&] {
    return std::make_unique<SummarisedObjective>(record(settings, context.data.prior().size()), table);
  });
  context.progress.expect(most_steps(search) +
                          static_cast<std::uint64_t>(summary_steps(settings.summary, settings.effort, context.data)));
  table = train_summaries(model, settings.summary, settings.embedding, settings.effort, context);
  model.settings["decay"] = search_decay(model, network, search, context).decay;
  model.main_network = network;
  return model;
}

model::TrainedModel train_npe_summary(const MethodContext& context) {
  return train_in_two_stages("npe_summary", "posterior", from_json<NpeSummarySettings>("train", context.settings),
                             context, [](const NpeSummarySettings& settings, std::size_t parameters) {
                               return model::record_posterior_flow(settings, parameters, nn::Lanes::each());
                             });
}

model::TrainedModel train_nle_summary(const MethodContext& context) {
  auto settings = from_json<NleSummarySettings>("train", context.settings);
  settings.choose_summaries(context.data.prior().size());
  return train_in_two_stages("nle_summary", "likelihood", settings, context,
                             [](const NleSummarySettings& chosen, std::size_t parameters) {
                               return model::record_summary_likelihood(chosen, parameters, nn::Lanes::each());
                             });
}

}  // namespace

Method npe_summary_method() {
  Method method{"npe_summary", "npe on summaries that are trained first, by distance correlation with the parameters",
                describe_fields<NpeSummarySettings>(), train_npe_summary};
  method.own_decay = method.whole_series = true;
  return method;
}

Method nle_summary_method() {
  Method method{"nle_summary",
                "likelihoods of such summaries, a masked autoregressive flow of them given the parameters",
                describe_fields<NleSummarySettings>(), train_nle_summary};
  method.own_decay = method.whole_series = true;
  return method;
}

}  // namespace catena::train
