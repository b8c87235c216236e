#include "catena/train/recipe.h"

#include <fmt/format.h>

#include "catena/core/check.h"
#include "catena/model/preset.h"
#include "catena/train/frames/embed.h"

namespace catena::train {

Split split_of(std::string_view function, const Method& method, const nlohmann::json& named,
               std::optional<double> held_out) {
  Split split;
  if (held_out) {
    split.held_out = *held_out;
  } else if (const std::size_t most = model::with_preset(function, method.name, "train", named).held_out; most > 0) {
    split.most = most;
  }
  split.frames = method.sees_frames && asks_for_frames(named);
  return split;
}

Recipe recipe_of(std::string_view function, const Method& method, const nlohmann::json& named,
                 std::size_t transitions) {
  check::that(named.is_object(), function, "the configuration", named.type_name(), "a JSON object");
  auto [preset, all, held_out] = model::with_preset(function, method.name, "train", named);
  check_used(function, method.settings, named, all);
  if (method.own_decay && named.contains("weight_decay")) {
    throw InputError(fmt::format("{}: weight_decay is {}, but the method {} does not use it (decay takes its place)",
                                 function, detail::json_text(named["weight_decay"]), method.name));
  }
  Recipe recipe{.loop = {}, .settings = nlohmann::json::object(), .preset = preset};
  const nlohmann::json epochs = all.value("epochs", nlohmann::json());
  if (!preset.empty()) all.erase("epochs");
  nlohmann::json loop = nlohmann::json::object();
  const std::vector<FieldInfo> of_loop = describe_fields<LoopSettings>();
  for (const auto& [name, value] : all.items()) {
    const bool is_loop = std::ranges::find(of_loop, name, &FieldInfo::name) != of_loop.end();
    (is_loop ? loop : recipe.settings)[name] = value;
  }
  recipe.loop = from_json<LoopSettings>(function, loop);
  if (!preset.empty() && epochs.is_number_integer()) {
    const auto batch = static_cast<std::size_t>(recipe.loop.batch_size);
    recipe.loop.steps = epochs.get<int>() * static_cast<int>((transitions + batch - 1) / batch);
  }
  return recipe;
}

}  // namespace catena::train
