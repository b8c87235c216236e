/// Conditional densities q(v | x^t, z) of the standardised increment v = (x^(t+1) − x^t)/scale, for likelihoods
/// of single transitions. What they are is one file each (density_*.cpp) and one line of the registry; what they see is
/// density_inputs.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/core/random.h"
#include "catena/core/registry.h"
#include "catena/model/separable_gaussian.h"
#include "catena/model/weights.h"
#include "catena/nn/graph.h"

namespace catena::model {

struct DensitySettings {
  std::string density = "auto";
  int width = 64;
  int z_width = 128;
  int layers = 4;
  int terms = 32;
  int components = 8;
  int flow_layers = 5;
  int flow_width = 50;
  int bins = 8;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit);
};

/// The numbers of inputs of a density.
struct DensityShape {
  std::size_t states = 0;        // n: increments
  std::size_t state_inputs = 0;  // what is seen of x^t and t
  std::size_t parameters = 0;    // d
  std::size_t atoms = 0;         // coordinates of x^(t+1) that may sit at a point mass
};

struct DensityInputs {
  nn::Value z, state, v{};
  // With atoms only:
  nn::Value atom{};  // 1 where that coordinate sits at its atom, else 0; one feature for each coordinate with an atom
  nn::Value keep{};  // n features, 0 where the coordinate sits at its atom, else 1
};

/// Contexts to draw increments for: one row each. `v` holds the values of coordinates at their atoms already.
struct DensityContexts {
  ConstMatrixView z, state, atom, keep;
};

struct DensityKind {
  std::string_view name;
  std::string_view help;
  bool noise_at_atoms;  // wants N(0, 1) noise as v of a coordinate at its atom in training, and 0 otherwise
  /// Records −log q(v | x^t, z) without its constant ½ log 2π for every coordinate that is kept.
  nn::Value (*record)(nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs, bool atoms);
  /// Draws the kept coordinates of v.
  void (*draw)(const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
               const std::string& source, const DensityContexts& contexts, Stream stream, MatrixView v);
  /// The sizes of its two parts, if it is separable: a series' likelihood then costs the same for any T.
  SeparableGaussian (*separable)(const DensitySettings& settings, const DensityShape& shape) = nullptr;
};

const Registry<DensityKind>& densities();
/// Their names, and auto.
std::vector<std::string> density_choices();

template <class Self, class Visit>
void DensitySettings::fields(Self& c, Visit&& visit) {
  visit(c.density, "density",
        "the density of an increment given state and parameters; auto: gaussian, separable or mixture, by the held-out "
        "loss",
        one_of(density_choices()));
  const std::vector<std::string> trunks{"auto", "gaussian", "separable", "mixture"}, flows{"maf", "nsf"};
  visit(c.width, "width", "units of each hidden layer (separable: of the state's)",
        when("density", trunks, at_least(4)));
  visit(c.z_width, "z_width", "units of each hidden layer of the parameters",
        when("density", {"auto", "separable"}, at_least(4)));
  visit(c.layers, "layers", "hidden layers (separable: of the parameters)", when("density", trunks, at_least(1)));
  visit(c.terms, "terms",
        "products of a function of the state and one of the parameters (separable: of linear forms of the parameters)",
        when("density", trunks, at_least(0)));
  visit(c.components, "components", "Gaussians of a mixture", when("density", {"auto", "mixture"}, at_least(1)));
  visit(c.flow_layers, "flow_layers", "transformations of a flow", when("density", flows, at_least(1)));
  visit(c.flow_width, "flow_width", "units of the two masked layers of each transformation",
        when("density", flows, at_least(4)));
  visit(c.bins, "bins", "bins of the splines", when("density", {"nsf"}, between(2, 64)));
}

/// The whole network: −log q, with the log probability of the atoms.
struct DensityGraph {
  nn::Graph graph;
  DensityInputs inputs;
  nn::Value loss;  // without ½ log 2π for each coordinate that is kept
};
/// With other lanes than one each, z is shared by the lanes of a group, and what depends on z alone is computed once
/// for them: a series' transitions for one point.
DensityGraph record_density(const DensitySettings& settings, const DensityShape& shape,
                            nn::Lanes z_lanes = nn::Lanes::each());

/// The atoms' part of it alone: v and keep are no inputs.
DensityGraph record_atom_cost(const DensityShape& shape, nn::Lanes z_lanes);

/// P(coordinate sits at its atom | x^t, z) for each atom, one context a row.
void atom_probabilities(const DensityShape& shape, const NamedWeights& weights, const std::string& source,
                        ConstMatrixView z, ConstMatrixView state, MatrixView out);

/// For the densities' files: a network of x^t and z. Its parts that depend on x^t alone come first, so that a series
/// computes them once.
nn::Value record_trunk(nn::Graph& graph, const std::string& name, const DensitySettings& settings, nn::Value state,
                       nn::Value z, std::size_t outputs);

/// For the densities' files: a recorded network over rows of its inputs (nn/rows.h), one output a row.
struct RowInput {
  nn::Value value;
  ConstMatrixView rows;
};
std::vector<float> run_rows(const nn::Graph& graph, std::span<const RowInput> inputs, nn::Value output,
                            const NamedWeights& weights, const std::string& source);

DensityKind gaussian_density();
DensityKind separable_density();
DensityKind mixture_density();
DensityKind maf_density();
DensityKind nsf_density();

}  // namespace catena::model
