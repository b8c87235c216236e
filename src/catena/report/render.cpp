#include "catena/report/render.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "catena/core/check.h"
#include "catena/files/json.h"

extern char** environ;

namespace catena::report {

namespace {

using std::filesystem::path;

constexpr std::string_view render_function = "catena report";

/// A directory of our own under the system's temporary one, gone with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "catena-report-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw FileError(fmt::format("{}: cannot be made: {}", pattern, std::generic_category().message(errno)));
    }
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const path& get() const { return path_; }

 private:
  path path_;
};

/// Runs the command without a shell and returns its exit code; 127 if it cannot be started. Its standard output goes to
/// standard error, because ours belongs to --json.
int run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

path program_directory() {
  std::error_code error;
  const path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? path() : program.parent_path();
}

std::optional<path> find_shared(const path& directory, const std::string& name) {
  if (directory.empty()) return std::nullopt;
  for (const path& base : {directory, directory.parent_path()}) {
    path candidate = base / "share" / "catena" / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error)) return candidate;
  }
  return std::nullopt;
}

std::string find_python(const path& directory, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const path beside = directory.parent_path() / ".venv" / "bin" / "python";
  std::error_code error;
  return !directory.empty() && std::filesystem::exists(beside, error) ? beside.string() : "python3";
}

void render(const Renderer& renderer, const std::vector<FigureFile>& figures, const std::string& format, double scale) {
  const TemporaryDirectory work;
  nlohmann::json request = {{"format", format}, {"scale", scale}, {"figures", nlohmann::json::array()}};
  for (const FigureFile& each : figures) {
    request["figures"].push_back({{"spec", each.figure.drawing.spec}, {"file", each.file.string()}});
  }
  const path file = work.get() / "request.json";
  files::write_json(file, request);
  const int code = run({renderer.python, renderer.script.string(), file.string()});
  constexpr int no_vl_convert = 3;
  if (code == 127 || code == no_vl_convert) {
    check::fail(render_function, "--format", format,
                fmt::format("html or json where `{}` {}: try pip install vl-convert-python, or name another Python by "
                            "--python",
                            renderer.python, code == 127 ? "cannot be started" : "has no package vl-convert-python"));
  }
  if (code != 0) throw FileError(fmt::format("{}: the figures could not be drawn as {}", render_function, format));
}

}  // namespace catena::report
