#include "catena/core/config.h"

#include <cstdlib>

#include "catena/core/errors.h"

namespace catena {
namespace {

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : detail::json_text(value);
}

bool holds(const Choice& choice, const std::string& value) {
  return std::ranges::any_of(choice.values, [&](const std::string& wanted) {
    return wanted == "> 0" ? std::strtod(value.c_str(), nullptr) > 0 : wanted == value;
  });
}

/// The value of a setting: as it was set, or its default.
std::string value_of(std::span<const FieldInfo> fields, const std::string& name, const nlohmann::json& all) {
  if (const auto found = all.find(name); found != all.end()) return text_of(*found);
  const auto field = std::ranges::find(fields, name, &FieldInfo::name);
  CATENA_ASSERT(field != fields.end());
  return field->default_value;
}

/// The values that somebody may choose on purpose.
std::vector<std::string> without_auto(std::vector<std::string> values) {
  if (values.size() > 1) std::erase(values, "auto");
  return values;
}

}  // namespace

std::string help_with_uses(std::string_view help, const Uses& uses) {
  if (uses.empty()) return std::string(help);
  std::vector<std::string> alternatives;
  for (const std::vector<Choice>& alternative : uses) {
    std::vector<std::string> choices;
    for (const Choice& choice : alternative) {
      const std::string values = fmt::format("{}", fmt::join(without_auto(choice.values), ", "));
      choices.push_back(fmt::format("{}{}{}", choice.setting, values == "> 0" ? " " : " = ", values));
    }
    alternatives.push_back(fmt::format("{}", fmt::join(choices, " and ")));
  }
  return fmt::format("{} (with {})", help, fmt::join(alternatives, ", or "));
}

namespace {

/// What stands in the way of a field's use; null if it is used.
const Choice* unmet_choice(std::span<const FieldInfo> fields, const FieldInfo& field, const nlohmann::json& all) {
  const Choice* unmet = nullptr;
  for (const std::vector<Choice>& alternative : field.uses) {
    const auto failing = std::ranges::find_if(
        alternative, [&](const Choice& choice) { return !holds(choice, value_of(fields, choice.setting, all)); });
    if (failing == alternative.end()) return nullptr;
    unmet = &*failing;
  }
  return unmet;
}

}  // namespace

void check_used(std::string_view function, std::span<const FieldInfo> fields, const nlohmann::json& named,
                const nlohmann::json& all) {
  for (const FieldInfo& field : fields) {
    if (!named.contains(field.name)) continue;
    const Choice* unmet = unmet_choice(fields, field, all);
    if (unmet == nullptr) continue;
    const std::vector<std::string> users = without_auto(unmet->values);
    throw InputError(fmt::format("{}: {} is {}, but {} = {} does not use it ({} {})", function, field.name,
                                 text_of(named[field.name]), unmet->setting, value_of(fields, unmet->setting, all),
                                 fmt::join(users, ", "), users.size() == 1 ? "does" : "do"));
  }
}

nlohmann::json worth_naming(std::span<const FieldInfo> fields, const nlohmann::json& settings) {
  nlohmann::json named = nlohmann::json::object();
  for (const FieldInfo& field : fields) {
    if (!settings.contains(field.name)) continue;
    const nlohmann::json& value = settings[field.name];
    const nlohmann::json standard = nlohmann::json::parse(field.default_value, nullptr, /*allow_exceptions=*/false);
    const bool is_default = value == standard || (value.is_string() && text_of(value) == field.default_value);
    if (!is_default && unmet_choice(fields, field, settings) == nullptr) named[field.name] = value;
  }
  return named;
}

}  // namespace catena
