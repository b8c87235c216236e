/// The kernels, each made by the function of its file; kernel.cpp lists them.
#pragma once

#include <memory>

#include "catena/sample/mcmc/kernel.h"

namespace catena::sample {

std::unique_ptr<Kernel> make_slice(const KernelContext& context);
std::unique_ptr<Kernel> make_random_walk(const KernelContext& context);
std::unique_ptr<Kernel> make_mala(const KernelContext& context);
std::unique_ptr<Kernel> make_hmc(const KernelContext& context);
std::unique_ptr<Kernel> make_nuts(const KernelContext& context);
std::unique_ptr<Kernel> make_ensemble(const KernelContext& context);
std::unique_ptr<Kernel> make_cloud(const KernelContext& context);
std::unique_ptr<Kernel> make_delayed(const KernelContext& context);
std::unique_ptr<Kernel> make_tempering(const KernelContext& context);

KernelSettings nuts_settings();
KernelSettings tempering_settings();

}  // namespace catena::sample
