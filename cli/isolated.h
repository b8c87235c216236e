/// --isolate: what a plug-in does wrong happens in a child process. The verb goes on in the child; the parent waits for
/// it, and a crash or a batch that does not come back is one sentence with exit code 2. Used where a plug-in is loaded
/// (task_flags.cpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace catena::cli {

/// When batches began, for the parent to see. One per process.
class BatchClock {
 public:
  /// Runs one call of the plug-in with the clock running.
  void time(const std::function<void()>& call) const;

 private:
  friend const BatchClock& isolate_plugin(std::string_view, const std::string&, double);
  struct Slots;
  Slots* slots_ = nullptr;
};

/// Forks, and returns in the child alone: the parent passes signals on, waits, and ends with the child's exit code, or
/// with 2 and a sentence if the child dies or one batch takes longer than `seconds`. To be called before the plug-in is
/// loaded and before there are threads.
const BatchClock& isolate_plugin(std::string_view function, const std::string& plugin, double seconds);

}  // namespace catena::cli
