/// Single-precision numbers below 1e-38 count as zero while this stands: processors take a hundred times longer for
/// them, and networks whose weights decay make many. The same on every thread that replays a graph, so that results do
/// not depend on the thread; the mode of the caller comes back at the end.
#pragma once

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace catena::nn {

class FlushDenormals {
 public:
#if defined(__SSE__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | flush_results | flush_inputs); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned flush_results = 0x8000, flush_inputs = 0x0040;  // FTZ and DAZ of MXCSR
  unsigned before_;

 public:
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
};

}  // namespace catena::nn
