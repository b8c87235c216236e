#include "catena/files/json.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <vector>

#include "catena/core/check.h"
#include "catena/files/atomic.h"

namespace catena::files {
using nlohmann::json;

namespace {

void check_finite(const json& value) {
  if (value.is_number_float()) check::finite("dump_json", "a number", value.get<double>());
  if (value.is_structured()) {
    for (const json& element : value) check_finite(element);
  }
}

}  // namespace

json parse_json(std::string_view text, const std::string& source, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw FileError(fmt::format("{}: has {} bytes of JSON, but this reader takes at most {}", source, text.size(),
                                limits.max_bytes));
  }
  std::vector<std::set<std::string>> names;  // seen so far, for each open object or array
  const json::parser_callback_t watch = [&](int, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        names.emplace_back();
        if (names.size() > limits.max_depth) {
          throw FileError(fmt::format("{}: its JSON nests deeper than {} levels", source, limits.max_depth));
        }
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        names.pop_back();
        break;
      case json::parse_event_t::key:
        if (!names.back().insert(parsed.get<std::string>()).second) {
          throw FileError(fmt::format("{}: its JSON has the name {} twice in one object", source,
                                      detail::in_quotes(parsed.get<std::string>())));
        }
        break;
      case json::parse_event_t::value:
        break;
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    throw FileError(fmt::format("{}: is not valid JSON (byte {})", source, error.byte));
  } catch (const json::exception&) {
    throw FileError(fmt::format("{}: its JSON has a number that no double can hold", source));
  } catch (const std::bad_alloc&) {
    throw FileError(fmt::format("{}: its JSON does not fit into memory", source));
  }
}

json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  return parse_json(read_file(path, limits.max_bytes), detail::display(path), limits);
}

std::string dump_json(const json& value, int indent) {
  check_finite(value);
  try {
    return value.dump(indent);
  } catch (const json::type_error&) {
    throw InputError("dump_json: a text is not UTF-8, but must be");
  }
}

void write_json(const std::filesystem::path& path, const json& value) { write_file(path, dump_json(value, 2) + "\n"); }

}  // namespace catena::files
