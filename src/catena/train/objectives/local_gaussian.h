/// Training of the local posteriors' Gaussian (model/local_gaussian.h): −log N(z; μ(c), C(c)⁻¹).
#pragma once

#include "catena/model/local_gaussian.h"
#include "catena/nn/gaussian.h"
#include "catena/train/objective.h"

namespace catena::train {

class LocalGaussianObjective final : public Objective {
 public:
  LocalGaussianObjective(int width, std::size_t parameters, std::size_t features)
      : network_(model::record_local_gaussian(width, parameters, features)),
        z_(network_.graph.input("z", parameters)),
        loss_(nn::record_gaussian(network_.graph, network_.parameters, z_).loss) {}

  const nn::Graph& graph() const override { return network_.graph; }
  nn::Value loss() const override { return loss_; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream) const override {
    const std::size_t count = part.count();
    gather(workspace.value(network_.condition, count), count, 1, [&](std::size_t i) { return part.c(i); });
    gather(workspace.value(z_, count), count, 1, [&](std::size_t i) { return part.z(i); });
  }

 private:
  model::LocalGaussianGraph network_;
  nn::Value z_, loss_;
};

}  // namespace catena::train
