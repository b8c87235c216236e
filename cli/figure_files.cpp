#include "figure_files.h"

#include <fmt/format.h>

#include "catena/core/check.h"
#include "catena/files/json.h"
#include "catena/report/render.h"

namespace catena::cli {

std::vector<std::filesystem::path> write_figures(const FigureFiles& plan,
                                                 const std::vector<report::DrawnFigure>& figures,
                                                 const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  check::that(!error, plan.function, "--output", directory.string(),
              fmt::format("a directory for --format {}, one file per figure", plan.format));
  std::vector<report::FigureFile> files;
  for (const report::DrawnFigure& figure : figures) {
    files.push_back({figure, directory / fmt::format("{}.{}", figure.name, plan.format)});
  }
  return write_files(plan, files);
}

std::vector<std::filesystem::path> write_files(const FigureFiles& plan, const std::vector<report::FigureFile>& files) {
  std::vector<std::filesystem::path> written;
  for (const report::FigureFile& each : files) written.push_back(each.file);
  if (plan.format == "json") {
    for (const report::FigureFile& each : files) files::write_json(each.file, each.figure.drawing.spec);
    return written;
  }
  const std::filesystem::path programs = report::program_directory();
  const auto script = report::find_shared(programs, "render-figures");
  if (!script) {
    throw FileError(fmt::format("{}: share/catena/render-figures was not found beside the program", plan.function));
  }
  report::render({report::find_python(programs, plan.python), *script}, files, plan.format, plan.scale);
  return written;
}

}  // namespace catena::cli
