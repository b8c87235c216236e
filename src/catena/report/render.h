/// What the report needs from beside the program: Vega's JavaScript for the page, and for PNG and SVG a Python that has
/// vl-convert. Both are found relative to the program, in its build tree or where it is installed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catena/report/figure.h"

namespace catena::report {

/// The directory of the running program; empty if the system does not tell.
std::filesystem::path program_directory();

/// DIR/share/catena/NAME (build tree) or DIR/../share/catena/NAME (installed).
std::optional<std::filesystem::path> find_shared(const std::filesystem::path& program_directory,
                                                 const std::string& name);

/// The first of: `wanted` if not empty, the .venv beside the build tree, python3 in the path.
std::string find_python(const std::filesystem::path& program_directory, const std::string& wanted);

struct Renderer {
  std::string python;
  std::filesystem::path script;  ///< tools/render-figures
};

struct FigureFile {
  const DrawnFigure& figure;
  std::filesystem::path file;
};

/// Each figure as its file, format png, svg or pdf. An InputError if Python or vl-convert are missing.
void render(const Renderer& renderer, const std::vector<FigureFile>& figures, const std::string& format, double scale);

}  // namespace catena::report
