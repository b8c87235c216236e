/// What a density sees of a transition: from the features c (features.h) to the state's inputs, the increment v, and
/// which coordinates of x^(t+1) sit at a point mass.
///
/// - v = (x^(t+1) − x^t)/scale: no mean is taken off, so that v = 0 is "nothing happened" whatever the noise. Of a
/// state
///   that is seen by its logarithm, v = (log x^(t+1) − log x^t)/scale, and ∂v/∂x^(t+1) = 1/(scale x^(t+1)).
/// - The state enters standardised and, for up to six coordinates, also as u_i u_j and u_i³ with u in [−1, 1] over the
///   training range: drifts are often polynomials.
/// - A state that is never negative also enters as log(x/scale + 0.01): noise and drift that grow with the state are
///   then simple functions. One that is seen by its logarithm enters as x, too.
/// - A coordinate of x^(t+1) that takes one value in more than 0.1 % of the training set (a state clipped at 0) has an
///   atom there: the network gives its probability, and the density is that of the other coordinates.
/// - A coordinate that is an integer throughout is dequantised: training adds u ~ U(0, 1) anew each time, and the
///   density is taken at u = ½, so that e^(log q) is the mean density over a unit interval to second order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/random.h"
#include "catena/model/density/density.h"
#include "catena/model/features.h"

namespace catena::model {

struct Atom {
  std::size_t state;
  double value;  // of x^(t+1); NaN: the coordinate stands still, its increment is always the same (`NAME=still`)
};

/// The choices by name, as settings keep them: "auto" until training decides.
struct DensityInputSettings {
  std::string logarithms = "auto";
  std::string point_masses = "auto";
  std::string integers = "auto";
  /// For the record: what a model's density sees is what its features say (features.h), also in files without this.
  std::string log_increments = "auto";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.logarithms, "logarithms", "states whose logarithm is seen too: auto, none or names with commas",
          anything());
    visit(c.point_masses, "point_masses", "point masses of the next state: auto, none or NAME=VALUE with commas",
          anything());
    visit(c.integers, "integers", "states that are whole numbers: auto, none or names with commas", anything());
    visit(c.log_increments, "log_increments",
          "states, positive throughout, whose logarithm's increments are learned: auto (by the held-out loss), none or "
          "names with commas",
          anything());
  }
};

/// Random numbers of one transition in training; empty where the density is evaluated.
struct IncrementNoise {
  std::span<const float> uniform;  // one for each integer coordinate
  std::span<const float> normal;   // one for each atom
};

class DensityMap {
 public:
  /// `settings` must not say auto any more. Throws InputError for names that are not states.
  DensityMap(const Features& features, const std::vector<std::string>& state_names,
             const DensityInputSettings& settings, bool noise_at_atoms);

  DensityShape shape(std::size_t parameters) const;
  const std::vector<Atom>& atoms() const { return atoms_; }

  /// c: the features of one transition.
  void state(const float* c, std::span<float> out) const;
  void increment(const float* c, const IncrementNoise& drawn, std::span<float> v, std::span<float> atom,
                 std::span<float> keep) const;
  std::size_t integers() const { return integers_.size(); }
  const std::vector<std::size_t>& integer_coordinates() const { return integers_; }

  /// x^(t+1) of a drawn v, given x^t and its c; atoms and integers as they are.
  void next_state(std::span<const double> x, const float* c, std::span<const double> v, std::span<const double> keep,
                  std::span<double> x_next) const;
  /// v of a coordinate that sits at its atom.
  double atom_increment(const float* c, const Atom& atom) const;

  /// log |∂v/∂x^(t+1)| over kept coordinates: what turns a density of v into one of x^(t+1).
  double log_jacobian(const float* c, std::span<const float> keep) const;

 private:
  std::size_t beside() const;  // inputs of x itself, of states that are seen by their logarithms
  double x(const float* c, std::size_t i) const;
  double x_next(const float* c, std::size_t i) const;

  Features features_;
  std::vector<std::size_t> logarithms_, integers_;
  std::vector<Atom> atoms_;
  bool noise_at_atoms_;
};

/// For whoever chooses inputs by looking at data (train/choose/inputs.h): names of the target's coordinates (those of
/// the states, and x+2, x+3, … for the later states of a block), coordinate i of the target as a state, and how far two
/// of them may lie apart by rounding alone.
std::vector<std::string> target_names(const Features& features, const std::vector<std::string>& names);
/// The states that a text like "x,y" or "none" names. Throws InputError in a sentence about `setting`.
std::vector<std::size_t> states_in(const std::string& text, const std::vector<std::string>& names,
                                   std::string_view setting);
double next_of(const Features& features, const float* c, std::size_t i);
double atom_tolerance(const Features& features, std::size_t i);

}  // namespace catena::model
