/// Progress of long work: a bar with rate and time left on a terminal, a line now and then elsewhere, nothing on
/// request. It is also where a computation learns that it should stop (Ctrl-C).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace catena {

enum class ProgressStyle { automatic, bar, lines, silent };

/// One long piece of work reports here. Thread-safe; cheap enough to call once per block of work.
class Progress {
 public:
  virtual ~Progress() = default;

  /// Begins a phase of `total` units ("transitions", "steps"); ends the one before. total = 0: unknown.
  virtual void start(std::string_view label, std::string_view unit, std::uint64_t total) = 0;
  /// The phase turns out to have so many units to go.
  virtual void expect(std::uint64_t /*units*/) {}
  /// Some more units are done. Throws Interrupted if a stop was asked for.
  virtual void advance(std::uint64_t units) = 0;
  /// A short text beside the bar ("loss 0.61").
  virtual void note(std::string_view text) = 0;
  /// Ends the phase and leaves its last line standing.
  virtual void finish() = 0;
  /// True once a stop was asked for; for loops that want to put their things in order first.
  virtual bool stop_requested() const = 0;
};

/// Writes to standard error; automatic = bar if that is a terminal, else lines.
std::unique_ptr<Progress> make_progress(ProgressStyle style);

/// A reporter that says nothing, for tests and for callers without one; Ctrl-C stops their work all the same.
Progress& silent_progress();

/// A part of some work that says nothing itself, but stops when the whole is asked to.
class PartProgress final : public Progress {
 public:
  explicit PartProgress(const Progress& whole) : whole_(whole) {}
  void start(std::string_view, std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override;
  void note(std::string_view) override {}
  void finish() override {}
  bool stop_requested() const override { return whole_.stop_requested(); }

 private:
  const Progress& whole_;
};

/// How often any work of this process has advanced: a process that hangs does not (ranks.h).
std::uint64_t advances();

/// Makes Ctrl-C (SIGINT), SIGTERM and SIGUSR1 (how batch systems warn) ask every reporter for a stop; a second one ends
/// the program as usual.
void stop_on_interrupt();
/// Asks for a stop, or withdraws the request, as the signal does.
void request_stop(bool stop = true);
bool stop_requested();

}  // namespace catena
