#include "catena/core/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "catena/core/errors.h"

namespace catena {

namespace {

std::atomic<bool> stop_flag = false;
std::atomic<std::uint64_t> advance_count = 0;

void on_signal(int signal) {
  stop_flag = true;
  std::signal(signal, SIG_DFL);  // a second one ends the program as usual
}

using Clock = std::chrono::steady_clock;

/// 1234567 → "1.23M". The bounds are where rounding to that many digits would carry into one more.
std::string short_number(double value) {
  if (value >= 999.5e6) return fmt::format("{:.3g}G", value / 1e9);
  if (value >= 999.5e3) return fmt::format("{:.3g}M", value / 1e6);
  if (value >= 9999.5) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

/// Columns of the terminal that standard error is, or 80 if it does not say.
std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// The first `count` characters of a UTF-8 text, whole ones.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_a_character = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (begins_a_character && seen++ == count) return text.substr(0, i);
  }
  return text;
}

/// 75 → "1:15"
std::string clock_time(double seconds) {
  const auto whole = static_cast<long>(std::clamp(seconds, 0.0, 359999.0));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

class SilentProgress : public Progress {
 public:
  void start(std::string_view, std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override {
    advance_count.fetch_add(1, std::memory_order_relaxed);
    if (catena::stop_requested()) throw Interrupted();
  }
  void note(std::string_view) override {}
  void finish() override {}
  bool stop_requested() const override { return catena::stop_requested(); }
};

/// One line per phase on standard error, redrawn in place (bar) or repeated at growing intervals (lines).
class TextProgress : public SilentProgress {
 public:
  explicit TextProgress(bool bar) : bar_(bar) {}
  ~TextProgress() override { end_phase(); }

  void start(std::string_view label, std::string_view unit, std::uint64_t total) override {
    const std::lock_guard lock(mutex_);
    end_phase();
    label_ = label;
    unit_ = unit;
    note_.clear();
    total_ = total;
    done_ = 0;
    begin_ = Clock::now();
    // A terminal is redrawn ten times a second; a log gets its first line after 10 s, then at doubling distances up to
    // a minute.
    interval_ = bar_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
    next_ = bar_ ? begin_ : begin_ + interval_;
    active_ = true;
  }

  void advance(std::uint64_t units) override {
    done_ += units;
    if (mutex_.try_lock()) {  // somebody else is drawing: no need to wait
      const std::lock_guard lock(mutex_, std::adopt_lock);
      const auto now = Clock::now();
      if (active_ && now >= next_) {
        draw(now, bar_ ? "" : "\n");
        if (!bar_) interval_ = std::min(interval_ * 2, std::chrono::milliseconds(60'000));
        next_ = now + interval_;
      }
    }
    SilentProgress::advance(units);
  }

  void expect(std::uint64_t units) override {
    const std::lock_guard lock(mutex_);
    total_ = done_ + units;
  }

  void note(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    note_ = text;
  }

  void finish() override {
    const std::lock_guard lock(mutex_);
    end_phase();
  }

 private:
  void end_phase() {
    if (active_) draw(Clock::now(), "\n");
    active_ = false;
  }

  void draw(Clock::time_point now, const char* end) {
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const auto done = static_cast<double>(done_.load());
    const double rate = seconds > 0 ? done / seconds : 0;
    std::string line = label_;
    if (total_ > 0) {
      const double share = std::min(1.0, done / static_cast<double>(total_));
      line += fmt::format(" {:3.0f} %", 100 * share);
      if (bar_) {
        constexpr int width = 24;
        const int filled = static_cast<int>(share * width);
        line += " [";
        for (int i = 0; i < width; ++i) line += i < filled ? "█" : "·";
        line += "]";
      }
    }
    line += fmt::format(" {} {}", short_number(done), unit_);
    if (rate > 0) line += fmt::format(", {}/s", short_number(rate));
    line += fmt::format(", {}", clock_time(seconds));
    if (total_ > 0 && rate > 0 && done < static_cast<double>(total_)) {
      line += fmt::format(" (left {})", clock_time((static_cast<double>(total_) - done) / rate));
    }
    if (!note_.empty()) line += fmt::format(", {}", note_);
    // A line that wraps could not be redrawn in place. "\x1b[K" clears what the line before left to the right.
    if (bar_) line = fmt::format("\r{}\x1b[K", first_characters(line, terminal_columns() - 1));
    line += end;
    std::fwrite(line.data(), 1, line.size(), stderr);  // nobody left to read it is no reason to stop the work
    std::fflush(stderr);
  }

  const bool bar_;
  std::mutex mutex_;
  std::string label_, unit_, note_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  Clock::time_point begin_, next_;
  std::chrono::milliseconds interval_{};
  bool active_ = false;
};

}  // namespace

std::unique_ptr<Progress> make_progress(ProgressStyle style) {
  if (style == ProgressStyle::automatic) style = isatty(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::lines;
  if (style == ProgressStyle::silent) return std::make_unique<SilentProgress>();
  return std::make_unique<TextProgress>(style == ProgressStyle::bar);
}

std::uint64_t advances() { return advance_count.load(std::memory_order_relaxed); }

void PartProgress::advance(std::uint64_t) {
  advance_count.fetch_add(1, std::memory_order_relaxed);
  if (whole_.stop_requested()) throw Interrupted();
}

Progress& silent_progress() {
  static SilentProgress progress;
  return progress;
}

void stop_on_interrupt() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_signal);
}

void request_stop(bool stop) { stop_flag = stop; }
bool stop_requested() { return stop_flag; }

}  // namespace catena
