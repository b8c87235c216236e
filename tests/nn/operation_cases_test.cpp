// The slow twins of all operations; see operation_cases.h.

#include "nn/operation_cases.h"

#include <numbers>
#include <tuple>

#include "catena/nn/kernels/rational_quadratic.h"

namespace catena::nn::testing {
namespace operation_cases_test {

namespace {

ZBlock block(std::size_t features, std::size_t lanes) { return ZBlock(features, std::vector<Z>(lanes)); }

ParameterInfo matrix(std::size_t rows, std::size_t cols) {
  return {.name = "w", .rows = rows, .cols = cols, .init = Init::standard_normal};
}
ParameterInfo vector(std::size_t rows) { return matrix(rows, 1); }
ParameterInfo constant(std::size_t rows, std::size_t cols) {
  return {.name = "constant", .rows = rows, .cols = cols, .init = Init::standard_normal, .trainable = false};
}

ZBlock map(const ZBlock& x, const std::function<Z(Z)>& f) {
  ZBlock y = x;
  for (auto& row : y) {
    for (Z& v : row) v = f(v);
  }
  return y;
}

ZBlock zip(const ZBlock& x, const ZBlock& y, const std::function<Z(Z, Z)>& f) {
  ZBlock z = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t l = 0; l < x[i].size(); ++l) z[i][l] = f(x[i][l], y[i][l]);
  }
  return z;
}

ZBlock multiply_matrix(const std::vector<Z>& w, std::size_t rows, const ZBlock& x, const std::vector<Z>* b) {
  ZBlock y = block(rows, x[0].size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t l = 0; l < x[0].size(); ++l) {
      y[i][l] = b == nullptr ? 0 : (*b)[i];
      for (std::size_t k = 0; k < x.size(); ++k) y[i][l] += w[i * x.size() + k] * x[k][l];
    }
  }
  return y;
}

Z gelu(Z x) { return 0.5 * x * (1.0 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }

ZBlock normalise(const ZBlock& r, const std::vector<Z>& gamma, const std::vector<Z>& beta) {
  ZBlock y = r;
  const auto n = static_cast<double>(r.size());
  for (std::size_t l = 0; l < r[0].size(); ++l) {
    Z mean = 0, variance = 0;
    for (const auto& row : r) mean += row[l] / n;
    for (const auto& row : r) variance += (row[l] - mean) * (row[l] - mean) / n;
    for (std::size_t f = 0; f < r.size(); ++f) {
      y[f][l] = gamma[f] * (r[f][l] - mean) / std::sqrt(variance + 1e-6) + beta[f];
    }
  }
  return y;
}

OperationCase activation(std::string name, const std::function<Z(Z)>& f, std::size_t inputs = 1) {
  return {std::move(name), std::vector<InputShape>(inputs, {5}), {}, {}, [f, inputs](const Operands& o) {
            if (inputs == 1) return map(o.inputs[0], f);
            return map(zip(o.inputs[0], o.inputs[1], std::plus<Z>()), f);
          }};
}

OperationCase dense_case(std::size_t rows, std::size_t cols, bool bias, Lanes lanes = Lanes::each()) {
  std::vector<ParameterInfo> parameters{matrix(rows, cols)};
  if (bias) parameters.push_back(vector(rows));
  return {"dense", {{cols, lanes}}, parameters, {}, [rows, bias](const Operands& o) {
            return multiply_matrix(o.parameters[0], rows, o.inputs[0], bias ? &o.parameters[1] : nullptr);
          }};
}

OperationCase repeat_case(Lanes lanes) {
  return {"repeat", {{3, lanes}}, {}, {{"group", lanes.group}}, [lanes](const Operands& o) {
            ZBlock y = block(3, o.lanes);
            for (std::size_t f = 0; f < 3; ++f) {
              for (std::size_t l = 0; l < o.lanes; ++l) {
                y[f][l] = o.inputs[0][f][lanes.group == 0 ? 0 : l / lanes.group];
              }
            }
            return y;
          }};
}

/// Pairs beyond the number of lanes do not exist.
OperationCase pairs_case(std::size_t features, std::size_t pairs) {
  return {"lane_pairs", {{features}, {features}}, {}, {{"pairs", pairs}}, [=](const Operands& o) {
            ZBlock y = block(pairs, o.lanes);
            for (std::size_t s = 0; s < pairs; ++s) {
              for (std::size_t l = 0; l < o.lanes; ++l) {
                if (s >= o.lanes) y[s][l] = -1e4;
                for (std::size_t k = 0; k < features && s < o.lanes; ++k) {
                  y[s][l] += o.inputs[0][k][(l + s) % o.lanes] * o.inputs[1][k][l];
                }
              }
            }
            return y;
          }};
}

/// Two coordinates, three bins on [−2, 2]: some lanes lie outside, where the spline is the identity.
OperationCase spline_case() {
  constexpr std::size_t bins = 3, each = spline::parameter_count(bins);
  constexpr double bound = 2;
  return {"rational_quadratic", {{2 * each}, {2}}, {}, {{"bins", bins}, {"bound", bound}}, [](const Operands& o) {
            ZBlock y = block(4, o.lanes);
            for (std::size_t i = 0; i < 2; ++i) {
              for (std::size_t l = 0; l < o.lanes; ++l) {
                const Z v = o.inputs[1][i][l];
                y[i][l] = v;
                if (std::abs(v.real()) >= bound) continue;
                const auto knots =
                    spline::knots<Z>(bins, bound, [&](std::size_t p) { return o.inputs[0][i * each + p][l]; });
                const auto k = spline::find_bin(knots.x, [&](Z x) { return v.real() < x.real(); });
                std::tie(y[i][l], y[2 + i][l]) = spline::evaluate(spline::bin(knots, k), v);
              }
            }
            return y;
          }};
}

/// Distances centred on both sides: A_ij = a_ij − ā_i − ā_j + ā.
ZBlock centred_distances(const ZBlock& x, std::size_t n) {
  ZBlock a = block(n, n);
  std::vector<Z> rows(n), columns(n);
  Z all = 0;
  const auto count = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Z squares = 0;
      for (const auto& feature : x) squares += (feature[i] - feature[j]) * (feature[i] - feature[j]);
      a[i][j] = i == j ? 0 : std::sqrt(squares);
      rows[i] += a[i][j] / count;
      columns[j] += a[i][j] / count;
      all += a[i][j] / (count * count);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i][j] += all - rows[i] - columns[j];
  }
  return a;
}

/// R² = Σ A B/√(Σ A² Σ B²); one lane alone has none.
OperationCase distance_case(std::size_t of_x, std::size_t of_y) {
  return {"distance_correlation", {{of_x}, {of_y}}, {}, {}, [](const Operands& o) {
            const ZBlock a = centred_distances(o.inputs[0], o.lanes), b = centred_distances(o.inputs[1], o.lanes);
            Z ab = 0, aa = 0, bb = 0;
            for (std::size_t i = 0; i < o.lanes; ++i) {
              for (std::size_t j = 0; j < o.lanes; ++j) {
                ab += a[i][j] * b[i][j];
                aa += a[i][j] * a[i][j];
                bb += b[i][j] * b[i][j];
              }
            }
            return ZBlock(1, std::vector<Z>(o.lanes, o.lanes == 1 ? Z(0) : ab / std::sqrt(aa * bb)));
          }};
}

}  // namespace

}  // namespace operation_cases_test

std::vector<OperationCase> operation_cases() {
  using namespace operation_cases_test;
  std::vector<OperationCase> cases{
      dense_case(7, 5, true),
      dense_case(13, 9, false),
      dense_case(1, 1, true),
      dense_case(6, 4, true, Lanes::one()),
      {"masked_dense",
       {{5}},
       {matrix(6, 5), constant(6, 5), vector(6)},
       {},
       [](const Operands& o) {
         std::vector<Z> w = o.parameters[0];
         for (std::size_t k = 0; k < w.size(); ++k) w[k] *= o.parameters[1][k];
         return multiply_matrix(w, 6, o.inputs[0], &o.parameters[2]);
       }},
      {"bias",
       {{4}},
       {vector(4)},
       {},
       [](const Operands& o) {
         ZBlock y = o.inputs[0];
         for (std::size_t f = 0; f < 4; ++f) {
           for (Z& v : y[f]) v += o.parameters[0][f];
         }
         return y;
       }},
      {"add",
       {{4}, {4}},
       {},
       {{"factor", -0.75}},
       [](const Operands& o) { return zip(o.inputs[0], o.inputs[1], [](Z x, Z y) { return x - 0.75 * y; }); }},
      {"multiply",
       {{4}, {4}},
       {},
       {},
       [](const Operands& o) { return zip(o.inputs[0], o.inputs[1], std::multiplies<Z>()); }},
      {"scale",
       {{4}},
       {},
       {{"factor", 1.5}},
       [](const Operands& o) { return map(o.inputs[0], [](Z x) { return 1.5 * x; }); }},
      {"scale_lanes",
       {{1}, {4}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y = o.inputs[1];
         for (auto& row : y) {
           for (std::size_t l = 0; l < row.size(); ++l) row[l] *= o.inputs[0][0][l];
         }
         return y;
       }},
      {"concatenate",
       {{2}, {1}, {3}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y;
         for (const ZBlock& x : o.inputs) y.insert(y.end(), x.begin(), x.end());
         return y;
       }},
      {"slice",
       {{6}},
       {},
       {{"begin", 2}, {"end", 5}},
       [](const Operands& o) { return ZBlock(o.inputs[0].begin() + 2, o.inputs[0].begin() + 5); }},
      activation("gelu", gelu),
      activation("gelu", gelu, 2),
      activation("silu", [](Z x) { return x / (1.0 + std::exp(-x)); }),
      activation("tanh", [](Z x) { return std::tanh(x); }),
      activation("sigmoid", [](Z x) { return 1.0 / (1.0 + std::exp(-x)); }),
      activation("softplus", [](Z x) { return std::log(1.0 + std::exp(x)); }),
      activation("relu", [](Z x) { return x.real() > 0 ? x : Z(0); }),
      activation("exp", [](Z x) { return std::exp(x); }),
      {"log", {{5}}, {}, {}, [](const Operands& o) { return map(o.inputs[0], [](Z x) { return std::log(x); }); }, true},
      {"layer_norm",
       {{7}},
       {vector(7), vector(7)},
       {},
       [](const Operands& o) { return normalise(o.inputs[0], o.parameters[0], o.parameters[1]); }},
      {"residual_layer",
       {{7}, {7}},
       {matrix(7, 7), vector(7), vector(7), vector(7)},
       {},
       [](const Operands& o) {
         const ZBlock u = multiply_matrix(o.parameters[0], 7, o.inputs[0], &o.parameters[1]);
         const ZBlock r = zip(map(zip(u, o.inputs[1], std::plus<Z>()), gelu), o.inputs[0], std::plus<Z>());
         return normalise(r, o.parameters[2], o.parameters[3]);
       }},
      {"lane_dot",
       {{4}, {4}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y = block(1, o.lanes);
         for (std::size_t f = 0; f < 4; ++f) {
           for (std::size_t l = 0; l < o.lanes; ++l) y[0][l] += o.inputs[0][f][l] * o.inputs[1][f][l];
         }
         return y;
       }},
      {"lane_matvec",
       {{12}, {4}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y = block(3, o.lanes);
         for (std::size_t i = 0; i < 3; ++i) {
           for (std::size_t j = 0; j < 4; ++j) {
             for (std::size_t l = 0; l < o.lanes; ++l) y[i][l] += o.inputs[0][4 * i + j][l] * o.inputs[1][j][l];
           }
         }
         return y;
       }},
      pairs_case(7, 5),
      pairs_case(3, 40),
      pairs_case(4, 20),
      {"unfold_lanes",
       {{1}},
       {},
       {{"group", 4}},
       [](const Operands& o) {
         ZBlock y = block(4, (o.lanes + 3) / 4);
         for (std::size_t l = 0; l < o.lanes; ++l) y[l % 4][l / 4] = o.inputs[0][0][l];
         return y;
       }},
      {"next_lane",
       {{3}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y = block(3, o.lanes);
         for (std::size_t f = 0; f < 3; ++f) {
           for (std::size_t l = 0; l + 1 < o.lanes; ++l) y[f][l] = o.inputs[0][f][l + 1];
         }
         return y;
       }},
      {"logsumexp_lanes",
       {{3}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y = block(3, 1);
         for (std::size_t f = 0; f < 3; ++f) {
           for (const Z x : o.inputs[0][f]) y[f][0] += std::exp(x);
           y[f][0] = std::log(y[f][0]);
         }
         return y;
       }},
      {"logsumexp_features",
       {{4}},
       {},
       {},
       [](const Operands& o) {
         ZBlock y = block(1, o.lanes);
         for (std::size_t l = 0; l < o.lanes; ++l) {
           for (std::size_t f = 0; f < 4; ++f) y[0][l] += std::exp(o.inputs[0][f][l]);
           y[0][l] = std::log(y[0][l]);
         }
         return y;
       }},
      spline_case(),
      {"sum_groups",
       {{3}},
       {},
       {{"group", 5}},
       [](const Operands& o) {
         ZBlock y = block(3, (o.lanes + 4) / 5);
         for (std::size_t f = 0; f < 3; ++f) {
           for (std::size_t l = 0; l < o.lanes; ++l) y[f][l / 5] += o.inputs[0][f][l];
         }
         return y;
       }},
      distance_case(5, 3),
      distance_case(1, 1),
      repeat_case(Lanes::one()),
      repeat_case(Lanes::grouped(5)),
      {"fourier",
       {{1}},
       {constant(3, 1)},
       {},
       [](const Operands& o) {
         ZBlock y = block(6, o.lanes);
         for (std::size_t k = 0; k < 3; ++k) {
           for (std::size_t l = 0; l < o.lanes; ++l) {
             const Z angle = 2 * std::numbers::pi * o.parameters[0][k] * o.inputs[0][0][l];
             y[k][l] = std::cos(angle);
             y[3 + k][l] = std::sin(angle);
           }
         }
         return y;
       }},
  };
  for (OperationCase& c : place_cases()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace catena::nn::testing
