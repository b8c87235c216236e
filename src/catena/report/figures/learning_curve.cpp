// The loss against the step of training, on the simulations it learned from and on those held out.

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/report/figure.h"
#include "catena/report/summary.h"

namespace catena::report {

namespace {

/// A steep start would flatten all that follows: the axis shows the losses after the first tenth, the start sticks out.
std::pair<double, double> loss_range(const model::LearningCurve& curve) {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  for (const auto* losses : {&curve.train_loss, &curve.held_out_loss}) {
    for (std::size_t i = 0; i < losses->size(); ++i) {
      const double value = (*losses)[i];
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      if (10 * i >= losses->size() || losses->size() < 20) high = std::max(high, value);
    }
  }
  return std::isfinite(low) && std::isfinite(high) ? padded_range(low, high) : std::pair(0.0, 1.0);
}

nlohmann::json loss_layer(const std::vector<double>& step, const std::vector<double>& loss, const char* style,
                          std::pair<double, double> range) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (std::isfinite(step[i]) && std::isfinite(loss[i])) points.emplace_back(step[i], loss[i]);
  }
  nlohmann::json line = mark("line", style);
  line["clip"] = true;
  return {{"data", data_of(points)},
          {"mark", line},
          {"encoding",
           {{"x", {{"field", "x"}, {"type", "quantitative"}, {"title", "step"}, {"axis", {{"tickCount", 5}}}}},
            {"y",
             {{"field", "y"},
              {"type", "quantitative"},
              {"title", "loss"},
              {"axis", {{"tickCount", 5}}},
              {"scale", {{"domain", {range.first, range.second}}, {"nice", false}, {"zero", false}}}}}}}};
}

std::optional<Drawing> draw_learning_curve(const Results& results) {
  if (!results.learning_curve) return std::nullopt;
  const model::LearningCurve& curve = *results.learning_curve;
  const auto range = loss_range(curve);
  Drawing drawing;
  nlohmann::json layers = nlohmann::json::array();
  if (!curve.train_loss.empty()) {
    layers.push_back(loss_layer(curve.step, curve.train_loss, "faint", range));
    drawing.key.push_back({"line", "muted", "loss in training"});
  }
  if (!curve.held_out_loss.empty()) {
    layers.push_back(loss_layer(curve.step, curve.held_out_loss, "posterior", range));
    drawing.key.push_back({"line", "posterior", "loss on held-out simulations"});
  }
  drawing.spec = grid({{{"layer", std::move(layers)}}}, {.width = 640, .least = 200, .most = 1000, .height = 240});
  return drawing;
}

}  // namespace

Figure learning_curve_figure() { return {"learning_curve", "Learning curve", false, draw_learning_curve}; }

}  // namespace catena::report
