// Compiled alone, not with its neighbours: it replaces the global operators.
// Replaces operator new in this test program, to count. In a file of its own so that no compiler sees through it.

#include "nn/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> allocations = 0;
}

// Clang's thread sanitizer has operators of its own that cannot be replaced: there nothing is counted.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CATENA_COUNTS_NOTHING
#endif
#endif

#ifndef CATENA_COUNTS_NOTHING
// Count every allocation of this program.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t align) {
  ++allocations;
  const auto a = static_cast<std::size_t>(align);
  if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#endif

long allocation_count() { return allocations; }
