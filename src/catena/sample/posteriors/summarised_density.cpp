#include "catena/sample/posteriors/summarised_density.h"

#include "catena/core/check.h"

namespace catena::sample {
namespace {

constexpr std::size_t density_block_lanes = 128;  // as in nn/rows.h

}  // namespace

SummarisedDensity::SummarisedDensity(model::SummarisedGraph density, const model::NamedWeights& weights,
                                     const std::string& source, std::vector<float> summaries, const Parallel& parallel)
    : density_(std::move(density)),
      weights_(model::flat_weights(density_.graph, weights, source)),
      summaries_(std::move(summaries)),
      parallel_(parallel),
      plain_(density_.graph, density_block_lanes, nn::Purpose::inference()),
      with_gradient_(density_.graph, density_block_lanes, {.keep_values = true, .input_gradients = {density_.z}}) {}

void SummarisedDensity::evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  parallel_.for_blocks(z.rows, density_block_lanes, [&](std::size_t begin, std::size_t end, std::size_t) {
    const std::size_t lanes = end - begin;
    const bool wants_gradient = gradient.rows > 0;
    const auto workspace = (wants_gradient ? with_gradient_ : plain_).borrow();
    const Block given = workspace->value(density_.summaries, lanes), point = workspace->value(density_.z, lanes);
    for (std::size_t f = 0; f < summaries_.size(); ++f) given(f, 0) = summaries_[f];
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < z.cols; ++f) point(f, l) = static_cast<float>(z(begin + l, f));
    }
    workspace->forward(weights_, lanes);
    const Block loss = workspace->value(density_.loss, lanes);
    for (std::size_t l = 0; l < lanes; ++l) out[begin + l] = -loss(0, l);
    if (!wants_gradient) return;
    const Block slope = workspace->gradient(density_.loss, lanes);
    for (std::size_t l = 0; l < lanes; ++l) slope(0, l) = -1;
    workspace->reverse(weights_, lanes, density_.loss, {});
    const Block found = workspace->gradient(density_.z, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < z.cols; ++f) gradient(begin + l, f) = found(f, l);
    }
  });
}

void check_one_series(const PosteriorRequest& request, const model::EmbeddingKind& embedding) {
  check::that(request.series.size() == 1 || embedding.sums, "sample", "the number of series of one theta",
              request.series.size(),
              "1: a recurrent embedding reads one series (npe_windows adds series up, fnle and fnse compose them)");
}

}  // namespace catena::sample
