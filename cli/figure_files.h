/// Figures as files, one each: what `catena report --format` and `catena experiment show --figures` write.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "catena/report/figure.h"
#include "catena/report/render.h"

namespace catena::cli {

struct FigureFiles {
  std::string_view function;  // for sentences
  std::string format;         // png, svg, pdf or json: a Vega-Lite specification
  double scale = 2;           // pixels of a png per pixel of the figure
  std::string python = "";    // one with vl-convert-python; empty: found
};

/// DIRECTORY/NAME.FORMAT for every figure; returns what was written.
std::vector<std::filesystem::path> write_figures(const FigureFiles& files,
                                                 const std::vector<report::DrawnFigure>& figures,
                                                 const std::filesystem::path& directory);
/// Each figure as the file that is named.
std::vector<std::filesystem::path> write_files(const FigureFiles& plan, const std::vector<report::FigureFile>& files);

}  // namespace catena::cli
