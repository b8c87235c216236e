#include <catena/core/parallel.h>
#include <catena/core/random.h>
#include <catena/core/version.h>
#include <fmt/format.h>

int main() {
  std::vector<double> draws(1000);
  catena::Parallel(2).for_blocks(draws.size(), 100, [&](std::size_t begin, std::size_t end, std::size_t block) {
    catena::Streams(1).stream("consumer", block).fill_normal(std::span(draws).subspan(begin, end - begin));
  });
  fmt::print("catena {}, first draw {}\n", catena::version(), draws.front());
}
