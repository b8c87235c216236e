/// Single-precision numbers below 1e-38 count as zero while this stands: processors take far longer for
/// them, and networks whose weights decay make many. The same on every thread that replays a graph, so that results do
/// not depend on the thread; the mode of the caller comes back at the end. Nothing on processors without SSE.
#pragma once

namespace catena::nn {

class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_ = 0;
};

}  // namespace catena::nn
