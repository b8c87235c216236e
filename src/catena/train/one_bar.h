/// One bar for a whole training: its networks are phases of one another, of which the method says how many steps are to
/// come (expect). A loop that stops early takes what it did not need off the total.
#pragma once

#include <algorithm>
#include <string>

#include "catena/core/progress.h"

namespace catena::train {

class OneBar final : public Progress {
 public:
  OneBar(Progress& whole, const std::string& label) : whole_(whole) { whole_.start(label, "steps", 0); }

  void start(std::string_view, std::string_view, std::uint64_t total) override {
    left_ -= std::min(left_, total);
    whole_.expect(left_ + total);
  }
  void expect(std::uint64_t units) override {
    left_ = units;
    whole_.expect(left_);
  }
  void advance(std::uint64_t units) override { whole_.advance(units); }
  void note(std::string_view text) override { whole_.note(text); }
  void finish() override { whole_.expect(left_); }
  bool stop_requested() const override { return whole_.stop_requested(); }

 private:
  Progress& whole_;
  std::uint64_t left_ = 0;  // of phases that have not begun
};

}  // namespace catena::train
