# %% [markdown]
# # A long series finds every flaw
#
# A fish stock is counted for two thousand weeks. A network that has learned one week a little wrong is wrong in the same
# direction every time, and a long series adds that up. We ask how good the learned posterior is, without a reference,
# and correct it by simulating single weeks from the observed states. This stock has an exact posterior to compare with.

# %%
import os
import sys

import matplotlib.pyplot as plt
import numpy as np

import catena

QUICK = "--quick" in sys.argv or bool(os.environ.get("CATENA_QUICK"))  # for tests: less of everything


# %% [markdown]
# ## The simulator
#
# The stock grows towards its capacity, and weeks are good or bad: log x' = log x + growth (1 − x/capacity) + noise ε.


# %%
def step(theta, x, rng):
    growth, capacity, noise = theta.T[:, :, None]
    return x * np.exp(growth * (1 - x / capacity) + noise * rng.standard_normal(x.shape))


prior = catena.priors.Independent({
    "growth": catena.priors.Uniform(0, 1.5),
    "capacity": catena.priors.Uniform(50, 200),
    "noise": catena.priors.Uniform(0.05, 0.6),
})

truth = np.array([0.3, 110.0, 0.2])
rng = np.random.default_rng(4)
series = [np.array([[60.0]])]
for _ in range(200 if QUICK else 2_000):
    series.append(step(truth[None], series[-1], rng))
series = np.concatenate(series)

# %% [markdown]
# ## Learn one week

# %%
data = catena.simulate(step, prior, proposal=catena.proposals.Box(1, 500), budget=2_000 if QUICK else 10_000, seed=1)
estimator = catena.FNLE(prior).append_simulations(data).train(seed=1, steps=150 if QUICK else 3_000)
posterior = estimator.build_posterior()

# %% [markdown]
# ## How good is the posterior of this series?

# %%
certificate = posterior.check(step, x=series, budget=2_000 if QUICK else 10_000, seed=1)
print(certificate)

# %% [markdown]
# ## Correct it

# %%
corrected = posterior.correct(step, x=series, budget=10_000 if QUICK else 200_000, seed=1)
theta = corrected.draws.theta
for name, low, median, high in zip(prior.names, *np.quantile(theta, [0.05, 0.5, 0.95], axis=0), strict=True):
    print(f"{name:8} {median:8.3f}   90 % between {low:.3f} and {high:.3f}")

# %% [markdown]
# ## Was it right?
#
# Increments of log x are linear in x with normal noise, so that sums over the series say all: the exact posterior on a grid.

# %%
x, y = series[:-1, 0], np.diff(np.log(series[:, 0]))
middle, spread = theta.mean(axis=0), theta.std(axis=0)
axes = [m + s * np.linspace(-6, 6, 81) for m, s in zip(middle, spread, strict=True)]
growth, capacity, noise = np.meshgrid(*axes, indexing="ij")
slope = growth / capacity
squares = (
    (y**2).sum() - 2 * growth * y.sum() + 2 * slope * (x * y).sum() + len(x) * growth**2
    - 2 * growth * slope * x.sum() + slope**2 * (x**2).sum()
)  # Σ (y − growth + slope x)²
log_density = -squares / (2 * noise**2) - len(x) * np.log(noise)
density = np.exp(log_density - log_density.max())

fig, panels = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for i, (panel, name) in enumerate(zip(panels, prior.names, strict=True)):
    marginal = density.sum(axis=tuple({0, 1, 2} - {i}))
    marginal /= marginal.sum() * (axes[i][1] - axes[i][0])
    exact = np.average(axes[i], weights=marginal)
    deviation = np.average((axes[i] - exact) ** 2, weights=marginal) ** 0.5
    off = [(draws[:, i].mean() - exact) / deviation for draws in (corrected.learned.theta, theta)]
    print(f"{name:8} off the exact posterior: learned {off[0]:+.2f}, corrected {off[1]:+.2f} standard deviations")
    panel.hist(corrected.learned.theta[:, i], bins=40, density=True, color="0.8")
    panel.hist(theta[:, i], bins=40, density=True, color="tab:blue", alpha=0.5)
    panel.plot(axes[i], marginal, "k", linewidth=1)
    panel.axvline(truth[i], color="tab:orange", linewidth=1)
    panel.set_xlabel(name)
    panel.set_yticks([])
fig.suptitle("learned (grey), corrected (blue), exact (black), true (orange)", fontsize=9)
fig.savefig("long_series.png", dpi=150)
