#include "catena/files/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "catena/core/check.h"
#include "catena/files/json.h"
#include "catena/files/kind.h"

namespace catena::files {
using nlohmann::json;

namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors values are little-endian, and copied as they are");

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = std::uint64_t{100} << 20;  // the limit of the reference implementation
constexpr std::string_view version_prefix = "catena-";

/// Names of the types in the header, in the order of the variant in Tensor.
constexpr std::string_view type_names[] = {"F32", "F64", "I64"};

template <class Values>
std::size_t byte_count(const Values& values) {
  return values.size() * sizeof(values[0]);
}

/// Refuses a sentence with the file's name in front.
template <class... Args>
[[noreturn]] void refuse_tensors(const std::string& source, fmt::format_string<Args...> text, Args&&... args) {
  throw FileError(source + ": " + fmt::format(text, std::forward<Args>(args)...));
}

std::uint64_t whole_number(const json& value, const std::string& source, const std::string& tensor) {
  if (!value.is_number_unsigned()) {
    refuse_tensors(source, "tensor {} has a shape or offset that is not a whole number of zero or more",
                   detail::in_quotes(tensor));
  }
  return value.get<std::uint64_t>();
}

/// One entry of the header: where a tensor stands in the data.
struct Entry {
  std::string name;
  std::size_t type;  // index into type_names
  std::vector<std::size_t> shape;
  std::uint64_t begin, end;
};

Entry parse_entry(const std::string& name, const json& entry, std::uint64_t data_bytes, const std::string& source) {
  const std::string label = detail::in_quotes(name);
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    refuse_tensors(source, "tensor {} has a header entry that is not {{dtype, shape, data_offsets}}", label);
  }
  const json &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  if (!type.is_string()) refuse_tensors(source, "tensor {} has a dtype that is not a text", label);
  const auto found = std::ranges::find(type_names, type.get<std::string>());
  if (found == std::end(type_names)) {
    refuse_tensors(source, "tensor {} has the dtype {}, but this reader knows only F32, F64 and I64", label,
                   detail::in_quotes(type.get<std::string>()));
  }
  Entry result{name, static_cast<std::size_t>(found - std::begin(type_names)), {}, 0, 0};
  const std::uint64_t value_bytes = result.type == 0 ? sizeof(float) : sizeof(double);

  if (!shape.is_array()) refuse_tensors(source, "tensor {} has a shape that is not a list", label);
  std::uint64_t count = 1;
  bool empty = false;
  for (const json& extent : shape) {
    const std::uint64_t n = whole_number(extent, source, name);
    result.shape.push_back(n);
    empty = empty || n == 0;
    if (n != 0 && count > std::numeric_limits<std::uint64_t>::max() / value_bytes / n) {
      refuse_tensors(source, "tensor {} has a shape whose number of values overflows", label);
    }
    if (n != 0) count *= n;
  }
  if (empty) count = 0;

  if (!offsets.is_array() || offsets.size() != 2) {
    refuse_tensors(source, "tensor {} has data_offsets that are not a pair", label);
  }
  result.begin = whole_number(offsets[0], source, name);
  result.end = whole_number(offsets[1], source, name);
  if (result.begin > result.end || result.end > data_bytes) {
    refuse_tensors(source, "tensor {} stands at bytes {} to {}, but the file has {} bytes of values", label,
                   result.begin, result.end, data_bytes);
  }
  if (result.end - result.begin != count * value_bytes) {
    refuse_tensors(source, "tensor {} has {} bytes, but its shape needs {}", label, result.end - result.begin,
                   count * value_bytes);
  }
  return result;
}

void parse_metadata(const json& stored, const std::string& source, TensorFile& file) {
  if (!stored.is_object()) refuse_tensors(source, "its __metadata__ is not an object");
  for (const auto& [key, value] : stored.items()) {
    if (!value.is_string()) refuse_tensors(source, "its __metadata__ entry {} is not a text", detail::in_quotes(key));
    file.other[key] = value.get<std::string>();
  }
  const auto ours = file.other.find("catena");
  if (ours == file.other.end()) return;
  const std::string format = file.other.contains("format") ? file.other["format"] : "";
  int version = 0;
  const char* const end = format.data() + format.size();
  if (!format.starts_with(version_prefix)) refuse_tensors(source, "its metadata has no format version");
  const auto [stop, error] = std::from_chars(format.data() + version_prefix.size(), end, version);
  if (error != std::errc() || stop != end || version < 1) {
    refuse_tensors(source, "its metadata has the format {}, which is no version", detail::in_quotes(format));
  }
  if (version > safetensors_version) {
    refuse_tensors(source, "was written by a newer catena (format {}; this one reads up to {})", version,
                   safetensors_version);
  }
  file.metadata = parse_json(ours->second, source);
  if (!file.metadata.is_object()) refuse_tensors(source, "its metadata is not a JSON object");
  file.other.erase("catena");
  file.other.erase("format");
}

template <class T>
std::vector<T> copy_values(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

bool TensorFile::contains(std::string_view name) const {
  return std::ranges::find(tensors, name, &Tensor::name) != tensors.end();
}

const Tensor& TensorFile::at(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  if (found == tensors.end()) check::fail("TensorFile::at", "name", name, "the name of one of the tensors");
  return *found;
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& source) {
  if (bytes.size() < length_bytes) refuse_tensors(source, "is no safetensors file: it has only {} bytes", bytes.size());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), length_bytes);
  bytes.remove_prefix(length_bytes);
  if (header_bytes > bytes.size() || header_bytes > max_header_bytes) {
    refuse_tensors(source, "is no safetensors file or cut short: its header claims {} bytes", header_bytes);
  }
  const std::string_view text = bytes.substr(0, header_bytes);
  const std::string_view data = bytes.substr(header_bytes);
  if (!text.starts_with('{')) refuse_tensors(source, "is no safetensors file: its header does not start with a brace");
  const json header = parse_json(text, source, {.max_bytes = max_header_bytes});

  TensorFile file;
  std::vector<Entry> entries;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      parse_metadata(entry, source, file);
    } else {
      entries.push_back(parse_entry(name, entry, data.size(), source));
    }
  }
  // Empty tensors share their offset with the next one, so the end decides between equal beginnings.
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t reached = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != reached) {
      refuse_tensors(source, "tensor {} begins at byte {}, but the one before it ends at {}",
                     detail::in_quotes(entry.name), entry.begin, reached);
    }
    reached = entry.end;
  }
  if (reached != data.size()) {
    refuse_tensors(source, "has {} bytes of values, but its tensors fill only {}", data.size(), reached);
  }
  try {
    for (Entry& entry : entries) {
      const std::string_view part = data.substr(entry.begin, entry.end - entry.begin);
      Tensor tensor{std::move(entry.name), std::move(entry.shape), {}};
      if (entry.type == 0) tensor.values = copy_values<float>(part);
      if (entry.type == 1) tensor.values = copy_values<double>(part);
      if (entry.type == 2) tensor.values = copy_values<std::int64_t>(part);
      file.tensors.push_back(std::move(tensor));
    }
  } catch (const std::bad_alloc&) {
    refuse_tensors(source, "has {} bytes of values, which do not fit into memory", data.size());
  }
  return file;
}

TensorFile read_safetensors(const std::filesystem::path& path, const ReadLimits& limits) {
  const std::string bytes = read_file(path, limits.max_bytes), found = looks_like(path);
  if (!found.empty() && found != "a model (safetensors)") {
    refuse_tensors(detail::display(path), "is {}, but must be a model (safetensors)", found);
  }
  return parse_safetensors(bytes, detail::display(path));
}

namespace {

/// The file, piece by piece, to write(bytes); what is wrong with it is said before the first piece.
template <class Write>
void serialise(const TensorFile& file, const Write& write) {
  constexpr std::string_view function = "write_safetensors";
  check::that(file.metadata.is_object(), function, "metadata", file.metadata.type_name(), "a JSON object");
  std::map<std::string, std::string> strings = file.other;
  for (const char* key : {"catena", "format"}) {
    check::that(!strings.contains(key), function, "other", key, "free of the names catena and format");
  }
  strings["format"] = fmt::format("{}{}", version_prefix, safetensors_version);
  strings["catena"] = dump_json(file.metadata);

  std::vector<const Tensor*> order;
  for (const bool eight_bytes : {true, false}) {
    for (const Tensor& tensor : file.tensors) {
      if ((tensor.values.index() != 0) == eight_bytes) order.push_back(&tensor);
    }
  }

  nlohmann::ordered_json header;
  header["__metadata__"] = strings;
  std::set<std::string> names = {"__metadata__"};
  std::uint64_t offset = 0;
  for (const Tensor* tensor : order) {
    check::that(names.insert(tensor->name).second, function, "name", tensor->name,
                "another one than those of the other tensors and __metadata__");
    std::size_t count = 1;
    for (const std::size_t extent : tensor->shape) count *= extent;
    const std::size_t have = std::visit([](const auto& values) { return values.size(); }, tensor->values);
    check::that(have == count, function, fmt::format("the number of values of {}", tensor->name), have,
                fmt::format("{}, the product of its shape", count));
    const std::uint64_t bytes = std::visit([](const auto& values) { return byte_count(values); }, tensor->values);
    header[tensor->name] = {{"dtype", type_names[tensor->values.index()]},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::ordered_json::type_error&) {
    throw InputError("write_safetensors: a name is not UTF-8, but must be");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the values then start on an eight-byte boundary
  const std::uint64_t header_bytes = text.size();

  write({reinterpret_cast<const char*>(&header_bytes), length_bytes});
  write(text);
  for (const Tensor* tensor : order) {
    std::visit([&](const auto& values) { write({reinterpret_cast<const char*>(values.data()), byte_count(values)}); },
               tensor->values);
  }
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  std::optional<AtomicFile> output;
  serialise(file, [&](std::string_view bytes) {
    if (!output) output.emplace(path);
    output->write(bytes);
  });
  output->commit();
}

std::string safetensors_bytes(const TensorFile& file) {
  std::string all;
  serialise(file, [&](std::string_view bytes) { all += bytes; });
  return all;
}

}  // namespace catena::files
