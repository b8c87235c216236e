#include "catena/files/netcdf/netcdf.h"

#include <fmt/format.h>

#include <algorithm>

#include "catena/core/check.h"
#include "catena/files/isolate.h"
#include "catena/files/netcdf/library.h"

namespace catena::files {
namespace {

using detail::Budget;
using detail::Channel;

constexpr int deepest_group = 32;

void send_group(Channel& channel, int file, const std::string& name, int depth, Budget& budget) {
  if (depth > deepest_group) {
    throw FileError(fmt::format("{}: its groups nest deeper than {} levels", budget.source, deepest_group));
  }
  channel.put_text(name);
  const std::vector<Dimension> dimensions = detail::stored_dimensions(file, budget);
  channel.put<std::uint64_t>(dimensions.size());
  for (const Dimension& dimension : dimensions) {
    channel.put_text(dimension.name);
    channel.put<std::uint64_t>(dimension.size);
  }
  detail::send_attributes(channel, detail::stored_attributes(file, detail::global, budget));
  const auto variables = detail::stored_variables(file, budget);
  channel.put<std::uint64_t>(variables.size());
  for (const auto& variable : variables) {
    channel.put_text(variable.name);
    const std::vector<std::string> names = detail::dimensions_of_values(variable);
    channel.put<std::uint64_t>(names.size());
    for (const std::string& dimension : names) channel.put_text(dimension);
    detail::send_attributes(channel, variable.attributes);
    detail::send_values(channel, file, variable, budget);
  }
  const std::vector<int> groups = detail::stored_groups(file, budget.source);
  channel.put<std::uint64_t>(groups.size());
  for (const int group : groups) {
    send_group(channel, group, detail::group_name(group, budget.source), depth + 1, budget);
  }
}

Group receive_group(Channel& channel) {
  Group group;
  group.name = channel.get_text();
  group.dimensions.resize(channel.take(channel.get<std::uint64_t>(), 1));
  for (Dimension& dimension : group.dimensions) {
    dimension.name = channel.get_text();
    dimension.size = channel.get<std::uint64_t>();
  }
  group.attributes = detail::receive_attributes(channel);
  detail::take_progress(group.attributes);
  group.variables.resize(channel.take(channel.get<std::uint64_t>(), 1));
  for (Variable& variable : group.variables) {
    variable.name = channel.get_text();
    variable.dimensions.resize(channel.take(channel.get<std::uint64_t>(), 1));
    for (std::string& name : variable.dimensions) name = channel.get_text();
    variable.attributes = detail::receive_attributes(channel);
    variable.values = detail::receive_values(channel);
  }
  group.groups.resize(channel.take(channel.get<std::uint64_t>(), 1));
  for (Group& inner : group.groups) inner = receive_group(channel);
  return group;
}

template <class Things>
const auto& find_named(const Things& things, std::string_view name, std::string_view function) {
  for (const auto& thing : things) {
    if (thing.name == name) return thing;
  }
  check::fail(function, "name", detail::in_quotes(name), "one that the group has");
}

}  // namespace

bool Group::contains(std::string_view wanted) const {
  return std::ranges::find(variables, wanted, &Variable::name) != variables.end();
}
const Variable& Group::variable(std::string_view wanted) const {
  return find_named(variables, wanted, "Group::variable");
}
const Group& Group::group(std::string_view wanted) const { return find_named(groups, wanted, "Group::group"); }
std::size_t Group::dimension(std::string_view wanted) const {
  return find_named(dimensions, wanted, "Group::dimension").size;
}

void write_netcdf(const std::filesystem::path& path, const Group& root) {
  check::that(root.name.empty(), "write_netcdf", "the root's name", detail::in_quotes(root.name), "empty");
  AtomicFile output(path);
  {
    const std::scoped_lock lock(detail::library_lock());
    auto file = detail::LibraryFile::create(output.temporary());
    detail::define_group(file.id(), root, path);
    file.close();
  }
  output.commit();
}

Group read_netcdf(const std::filesystem::path& path, const ReadLimits& limits) {
  const std::string source = detail::display(path);
  const std::uint64_t allowed = detail::plausible_bytes(detail::check_signature(path), limits);
  detail::Child child(source, limits, detail::library_lock(), [&](Channel& channel) {
    const auto file = detail::LibraryFile::open(path, false);
    Budget budget{source, allowed};
    send_group(channel, file.id(), "", 0, budget);
  });
  return child.talk([&](Channel& channel) {
    // Twice the child's own count, because names and the like come on top of what it counts.
    channel.allow(2 * allowed + (std::uint64_t{64} << 20));
    return receive_group(channel);
  });
}

}  // namespace catena::files
