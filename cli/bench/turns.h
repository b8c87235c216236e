/// Times several works in turn, in slices of about a millisecond, so that whatever else the machine does (neighbours,
/// its clock rate) falls on all of them alike. Used for every number that is a share of another.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace catena::cli {

/// What one work took: seconds per call, one entry for each round.
struct Turns {
  std::vector<double> wall;  ///< as a clock on the wall sees it: for work on several threads
  std::vector<double>
      core;  ///< that the calling thread had a core: for work on one thread; what preempts it is not counted
};

/// `rounds` rounds, in each of which every work is called for about `slice_seconds`.
std::vector<Turns> run_in_turn(const std::vector<std::function<void()>>& works, int rounds, double slice_seconds);

/// The middle of the values, and the value that a quarter of them do not exceed.
double median(std::vector<double> values);
double lower_quartile(std::vector<double> values);

/// Works that run in turn with the machine's peak. A share is the median, over the rounds, of a work's speed over the
/// peak's speed in the same round.
class BesidePeak {
 public:
  BesidePeak(std::vector<std::function<void()>> works, int rounds, double slice_seconds);

  /// Operations per second of one core at its peak.
  double peak() const;
  /// Seconds per call of the work, by its place in the list.
  const Turns& operator[](std::size_t work) const { return turns_[work]; }
  /// Of the peak, for a work on one thread that does so many operations per call.
  double share(std::size_t work, double operations) const;

 private:
  double peak_operations_;    // of one call
  std::vector<Turns> turns_;  // the works, then the peak
};

}  // namespace catena::cli
