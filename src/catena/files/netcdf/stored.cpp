// The reading half of netcdf_library.h: everything here meets hostile files and runs in a child process.
#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <limits>

#include "catena/files/netcdf/library.h"

namespace catena::files::detail {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 20;  // values go to the parent in pieces of about this size
constexpr std::size_t most_dimensions = 64;                 // more would be no array that anybody has

std::string checked_name(const char* name) { return {name, ::strnlen(name, NC_MAX_NAME)}; }

[[noreturn]] void refuse_type(const std::string& source, const std::string& what) {
  throw FileError(fmt::format("{}: {} has a type that is neither number nor text", source, in_quotes(what)));
}

/// Reads `count` values at `start` as T. The library converts.
int read_part(int file, int id, const std::size_t* start, const std::size_t* count, double* out) {
  return nc_get_vara_double(file, id, start, count, out);
}
int read_part(int file, int id, const std::size_t* start, const std::size_t* count, float* out) {
  return nc_get_vara_float(file, id, start, count, out);
}
int read_part(int file, int id, const std::size_t* start, const std::size_t* count, long long* out) {
  return nc_get_vara_longlong(file, id, start, count, out);
}
int read_part(int file, int id, const std::size_t* start, const std::size_t* count, char* out) {
  return nc_get_vara_text(file, id, start, count, out);
}

bool is_integer(nc_type type) {
  return type == NC_BYTE || type == NC_UBYTE || type == NC_SHORT || type == NC_USHORT || type == NC_INT ||
         type == NC_UINT || type == NC_INT64 || type == NC_UINT64;
}

/// The number of values, after their bytes have been taken from the budget.
std::size_t counted(const StoredVariable& variable, std::size_t bytes_each, Budget& budget) {
  std::uint64_t count = 1;
  const bool empty = std::ranges::any_of(variable.dimensions, [](const Dimension& d) { return d.size == 0; });
  if (empty) return 0;
  for (const Dimension& dimension : variable.dimensions) {
    if (count > std::numeric_limits<std::uint64_t>::max() / dimension.size) {
      throw FileError(
          fmt::format("{}: {} has dimensions whose product overflows", budget.source, in_quotes(variable.name)));
    }
    count *= dimension.size;
  }
  budget.take(count, bytes_each);
  return static_cast<std::size_t>(count);
}

/// Calls use(values, n) for the whole variable in order, piece by piece along its first dimension.
template <class T, class Use>
void for_pieces(int file, const StoredVariable& variable, std::size_t total, const std::string& source, Use use) {
  if (total == 0) return;
  std::vector<std::size_t> start(variable.dimensions.size() + 1, 0), count;
  for (const Dimension& dimension : variable.dimensions) count.push_back(dimension.size);
  count.push_back(1);
  const std::size_t rows = count[0], row_values = total / rows;
  const std::size_t step = std::clamp<std::size_t>(piece_bytes / sizeof(T) / row_values, 1, rows);
  std::vector<T> values(step * row_values);
  for (start[0] = 0; start[0] < rows; start[0] += step) {
    count[0] = std::min(step, rows - start[0]);
    check_read(read_part(file, variable.id, start.data(), count.data(), values.data()), source);
    use(values.data(), count[0] * row_values);
  }
}

template <class T>
void send_numbers(Channel& channel, int file, const StoredVariable& variable, Budget& budget) {
  const std::size_t total = counted(variable, sizeof(T), budget);
  channel.put<std::uint64_t>(total);
  for_pieces<T>(file, variable, total, budget.source,
                [&](const T* values, std::size_t n) { channel.send(values, n * sizeof(T)); });
}

void send_texts(Channel& channel, int file, const StoredVariable& variable, Budget& budget) {
  const std::size_t total = counted(variable, sizeof(std::string), budget);
  channel.put<std::uint64_t>(total);
  if (total == 0) return;
  std::vector<char*> texts(total, nullptr);
  check_read(nc_get_var_string(file, variable.id, texts.data()), budget.source);
  for (const char* text : texts) {
    const std::string_view view = text == nullptr ? "" : text;
    budget.take(view.size(), 1);
    channel.put_text(view);
  }
  nc_free_string(total, texts.data());
}

/// Characters: the last dimension is the length of the texts, padded with NUL.
void send_characters(Channel& channel, int file, const StoredVariable& variable, Budget& budget) {
  const std::size_t total = counted(variable, 1, budget);
  const std::size_t length = variable.dimensions.empty() ? 1 : variable.dimensions.back().size;
  std::uint64_t texts = 1;
  for (std::size_t i = 0; i + 1 < variable.dimensions.size(); ++i) {
    const std::size_t size = variable.dimensions[i].size;
    if (size != 0 && texts > std::numeric_limits<std::uint64_t>::max() / size) budget.take(texts, size);
    texts *= size;
  }
  budget.take(texts, sizeof(std::string));
  channel.put<std::uint64_t>(texts);
  if (length == 0) {
    for (std::uint64_t i = 0; i < texts; ++i) channel.put_text("");
  }
  std::string text;
  for_pieces<char>(file, variable, total, budget.source, [&](const char* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      text += values[i];
      if (text.size() < length) continue;
      text.resize(std::min(text.find_last_not_of('\0') + 1, text.size()));
      channel.put_text(text);
      text.clear();
    }
  });
}

nlohmann::json stored_attribute(int file, int variable, const std::string& name, Budget& budget) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  check_read(nc_inq_att(file, variable, name.c_str(), &type, &length), budget.source);
  // As JSON every element takes a value of its own.
  budget.take(length, type == NC_CHAR ? 1 : sizeof(nlohmann::json));
  if (type == NC_CHAR) {
    std::string text(length, '\0');
    check_read(length == 0 ? NC_NOERR : nc_get_att_text(file, variable, name.c_str(), text.data()), budget.source);
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  nlohmann::json list = nlohmann::json::array();
  if (type == NC_STRING) {
    std::vector<char*> texts(length, nullptr);
    check_read(length == 0 ? NC_NOERR : nc_get_att_string(file, variable, name.c_str(), texts.data()), budget.source);
    for (const char* text : texts) {
      const std::string_view view = text == nullptr ? "" : text;
      budget.take(view.size(), 1);
      list.push_back(view);
    }
    if (length > 0) nc_free_string(length, texts.data());
  } else if (is_integer(type)) {
    std::vector<long long> numbers(length);
    check_read(length == 0 ? NC_NOERR : nc_get_att_longlong(file, variable, name.c_str(), numbers.data()),
               budget.source);
    list = numbers;
  } else if (type == NC_DOUBLE || type == NC_FLOAT) {
    std::vector<double> numbers(length);
    check_read(length == 0 ? NC_NOERR : nc_get_att_double(file, variable, name.c_str(), numbers.data()), budget.source);
    list = numbers;
  } else {
    refuse_type(budget.source, name);
  }
  return length == 1 ? list[0] : list;
}

}  // namespace

void Budget::take(std::uint64_t count, std::uint64_t bytes_each) {
  if (count > left / bytes_each) {
    throw FileError(
        fmt::format("{}: claims more values than the {} bytes that its size and the limit allow", source, left));
  }
  left -= count * bytes_each;
}

std::vector<Dimension> stored_dimensions(int file, Budget& budget) {
  int count = 0;
  check_read(nc_inq_dimids(file, &count, nullptr, 0), budget.source);
  budget.take(static_cast<std::uint64_t>(std::max(count, 0)), sizeof(Dimension));
  std::vector<int> ids(static_cast<std::size_t>(std::max(count, 0)));
  check_read(nc_inq_dimids(file, &count, ids.data(), 0), budget.source);
  std::vector<Dimension> dimensions;
  for (const int id : ids) {
    char name[NC_MAX_NAME + 1] = {};
    std::size_t size = 0;
    check_read(nc_inq_dim(file, id, name, &size), budget.source);
    dimensions.push_back({checked_name(name), size});
  }
  return dimensions;
}

Attributes stored_attributes(int file, int variable, Budget& budget) {
  int count = 0;
  if (variable == global) {
    check_read(nc_inq_natts(file, &count), budget.source);
  } else {
    check_read(nc_inq_varnatts(file, variable, &count), budget.source);
  }
  Attributes attributes;
  for (int i = 0; i < count; ++i) {
    char name[NC_MAX_NAME + 1] = {};
    check_read(nc_inq_attname(file, variable, i, name), budget.source);
    attributes[checked_name(name)] = stored_attribute(file, variable, checked_name(name), budget);
  }
  return attributes;
}

std::vector<StoredVariable> stored_variables(int file, Budget& budget) {
  int count = 0;
  check_read(nc_inq_varids(file, &count, nullptr), budget.source);
  budget.take(static_cast<std::uint64_t>(std::max(count, 0)), sizeof(StoredVariable));
  std::vector<int> ids(static_cast<std::size_t>(std::max(count, 0)));
  check_read(nc_inq_varids(file, &count, ids.data()), budget.source);
  std::vector<StoredVariable> variables;
  for (const int id : ids) {
    StoredVariable variable;
    variable.id = id;
    char name[NC_MAX_NAME + 1] = {};
    int dimension_count = 0;
    nc_type type = NC_NAT;
    check_read(nc_inq_var(file, id, name, &type, &dimension_count, nullptr, nullptr), budget.source);
    variable.name = checked_name(name);
    variable.type = type;
    if (dimension_count < 0 || static_cast<std::size_t>(dimension_count) > most_dimensions) {
      throw FileError(fmt::format("{}: {} has {} dimensions, but this reader knows at most {}", budget.source,
                                  in_quotes(variable.name), dimension_count, most_dimensions));
    }
    std::vector<int> dimensions(static_cast<std::size_t>(dimension_count));
    check_read(nc_inq_vardimid(file, id, dimensions.data()), budget.source);
    for (const int dimension : dimensions) {
      std::size_t size = 0;
      int by_name = -1;
      check_read(nc_inq_dim(file, dimension, name, &size), budget.source);
      check_read(nc_inq_dimid(file, name, &by_name), budget.source);
      if (by_name != dimension) {
        throw FileError(fmt::format("{}: {} has the dimension {}, whose name another one hides", budget.source,
                                    in_quotes(variable.name), in_quotes(checked_name(name))));
      }
      variable.dimensions.push_back({checked_name(name), size});
    }
    variable.attributes = stored_attributes(file, id, budget);
    variables.push_back(std::move(variable));
  }
  return variables;
}

std::vector<int> stored_groups(int file, const std::string& source) {
  int count = 0;
  check_read(nc_inq_grps(file, &count, nullptr), source);
  std::vector<int> ids(static_cast<std::size_t>(std::max(count, 0)));
  check_read(nc_inq_grps(file, &count, ids.data()), source);
  return ids;
}

std::string group_name(int file, const std::string& source) {
  char name[NC_MAX_NAME + 1] = {};
  check_read(nc_inq_grpname(file, name), source);
  return checked_name(name);
}

std::vector<std::string> dimensions_of_values(const StoredVariable& variable) {
  std::vector<std::string> names;
  for (const Dimension& dimension : variable.dimensions) names.push_back(dimension.name);
  if (variable.type == NC_CHAR && !names.empty()) names.pop_back();
  return names;
}

void send_values(Channel& channel, int file, const StoredVariable& variable, Budget& budget) {
  if (variable.type == NC_DOUBLE) {
    channel.put('d');
    send_numbers<double>(channel, file, variable, budget);
  } else if (variable.type == NC_FLOAT) {
    channel.put('f');
    send_numbers<float>(channel, file, variable, budget);
  } else if (is_integer(variable.type)) {
    channel.put('i');
    send_numbers<long long>(channel, file, variable, budget);
  } else if (variable.type == NC_STRING) {
    channel.put('s');
    send_texts(channel, file, variable, budget);
  } else if (variable.type == NC_CHAR) {
    channel.put('s');
    send_characters(channel, file, variable, budget);
  } else {
    refuse_type(budget.source, variable.name);
  }
}

Values receive_values(Channel& channel) {
  const char kind = channel.get<char>();
  if (kind == 'd') return channel.get_vector<double>();
  if (kind == 'f') return channel.get_vector<float>();
  if (kind == 'i') return channel.get_vector<std::int64_t>();
  std::vector<std::string> texts(channel.take(channel.get<std::uint64_t>(), sizeof(std::string)));
  for (std::string& text : texts) text = channel.get_text();
  return texts;
}

void send_attributes(Channel& channel, const Attributes& attributes) {
  // CBOR, because JSON's text knows no NaN.
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(nlohmann::json(attributes));
  channel.put<std::uint64_t>(bytes.size());
  channel.send(bytes.data(), bytes.size());
}

Attributes take_progress(Attributes& attributes) {
  Attributes progress;
  for (const char* name : {complete_name, chunk_name, rows_name}) {
    if (auto node = attributes.extract(name)) progress.insert(std::move(node));
  }
  return progress;
}

Attributes receive_attributes(Channel& channel) {
  const nlohmann::json json = nlohmann::json::from_cbor(channel.get_vector<std::uint8_t>(), true, false);
  if (!json.is_object()) throw ChannelClosed();
  return json.get<Attributes>();
}

void read_matrix_rows(int file, const StoredVariable& variable, std::size_t begin, std::size_t rows, double* out,
                      const std::string& source) {
  const std::size_t start[] = {begin, 0}, count[] = {rows, variable.dimensions[1].size};
  check_read(nc_get_vara_double(file, variable.id, start, count, out), source);
}

void widen_chunk_cache(int file, const StoredVariable& variable) {
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> chunk(variable.dimensions.size() + 1, 0);
  if (nc_inq_var_chunking(file, variable.id, &storage, chunk.data()) != NC_NOERR || storage != NC_CHUNKED) return;
  constexpr std::size_t smallest = std::size_t{16} << 20, largest = std::size_t{256} << 20;
  std::size_t bytes = sizeof(double);
  for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
    if (chunk[i] == 0 || bytes > largest / chunk[i]) return;
    bytes *= chunk[i];
  }
  constexpr std::size_t slots = 1009;  // a prime number, as the library advises
  nc_set_var_chunk_cache(file, variable.id, std::clamp(bytes, smallest, largest), slots, 0.75F);
}

}  // namespace catena::files::detail
