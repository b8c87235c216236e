#include "catena/nn/flush_denormals.h"

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace catena::nn {

#if defined(__SSE__)

namespace {
constexpr unsigned flush_results = 0x8000, flush_inputs = 0x0040;  // FTZ and DAZ of MXCSR
}

FlushDenormals::FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | flush_results | flush_inputs); }
FlushDenormals::~FlushDenormals() { _mm_setcsr(before_); }

#else

FlushDenormals::FlushDenormals() = default;
FlushDenormals::~FlushDenormals() = default;

#endif

}  // namespace catena::nn
