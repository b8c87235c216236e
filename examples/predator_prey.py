# %% [markdown]
# # Hares and lynxes
#
# The Hudson's Bay Company counted pelts of snowshoe hares and Canadian lynxes every year (in thousands; 1900 to 1920,
# as in Hewitt 1921). We ask which rates of a stochastic Lotka–Volterra system fit them, from transitions of one year.

# %%
import os
import sys

import matplotlib.pyplot as plt
import numpy as np

import catena

QUICK = "--quick" in sys.argv or bool(os.environ.get("CATENA_QUICK"))  # for tests: less of everything

hares = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
lynxes = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
pelts = np.column_stack([hares, lynxes])
years = 1900 + np.arange(len(pelts))

# %% [markdown]
# ## The simulator
#
# Hares grow and are eaten, lynxes eat and die, and years are good or bad: on the scale of logarithms,
#
#     d log H = (growth − hunt · L) dt + noise dw₁,    d log L = (feed · H − death) dt + noise dw₂.
#
# One transition is a year of 24 Euler steps, for all rows of a batch at once.


# %%
def step(theta, x, rng):
    growth, hunt, death, feed, noise = theta.T
    steps = 24
    dt = 1 / steps
    log_hares, log_lynxes = np.log(x).T
    for _ in range(steps):
        dw = noise * np.sqrt(dt) * rng.standard_normal((2, len(x)))
        H, L = np.exp(log_hares), np.exp(log_lynxes)
        log_hares = np.clip(log_hares + (growth - hunt * L) * dt + dw[0], -7, 7)
        log_lynxes = np.clip(log_lynxes + (feed * H - death) * dt + dw[1], -7, 7)
    return np.exp(np.column_stack([log_hares, log_lynxes]))


prior = catena.priors.Independent({
    "growth": catena.priors.LogNormal(np.log(0.6), 0.5),
    "hunt": catena.priors.LogNormal(np.log(0.03), 0.7),
    "death": catena.priors.LogNormal(np.log(0.8), 0.5),
    "feed": catena.priors.LogNormal(np.log(0.025), 0.7),
    "noise": catena.priors.LogNormal(np.log(0.3), 0.5),
})

# %% [markdown]
# ## Learn one year
#
# The series is at hand, so transitions start from its states, widely blurred.

# %%
data = catena.simulate(
    step, prior, proposal=catena.proposals.Target(pelts), state_names=["hares", "lynxes"],
    budget=2_000 if QUICK else 50_000, seed=1,
)
estimator = catena.FNLE(prior, density="mixture", decay=0.1).append_simulations(data)
estimator.train(seed=1, steps=150 if QUICK else 8_000)
posterior = estimator.build_posterior()

# %% [markdown]
# ## Twenty years

# %%
theta = posterior.sample((200 if QUICK else 2_000,), x=pelts, seed=1)
for name, low, median, high in zip(prior.names, *np.quantile(theta, [0.05, 0.5, 0.95], axis=0), strict=True):
    print(f"{name:8} {median:7.3f}   90 % between {low:.3f} and {high:.3f}")

# %% [markdown]
# ## Do these rates make such series?
#
# One year ahead of each observed one, and the next ten years after the last.

# %%
rng = np.random.default_rng(1)
ahead = np.stack([step(theta, np.tile(state, (len(theta), 1)), rng) for state in pelts[:-1]])
future = [np.tile(pelts[-1], (len(theta), 1))]
for _ in range(10):
    future.append(step(theta, future[-1], rng))
future = np.stack(future)

inside = [
    np.mean((pelts[1:, i] >= np.quantile(ahead[..., i], 0.05, axis=1)) & (pelts[1:, i] <= np.quantile(ahead[..., i], 0.95, axis=1)))
    for i in range(2)
]
print(f"inside the central 90 % one year ahead: hares {inside[0]:.0%}, lynxes {inside[1]:.0%}")

fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for i, (axis, name) in enumerate(zip(axes, ["hares", "lynxes"], strict=True)):
    for years_of, values, colour in [(years[1:], ahead, "tab:blue"), (years[-1] + np.arange(11), future, "tab:grey")]:
        low, median, high = np.quantile(values[..., i], [0.05, 0.5, 0.95], axis=1)
        axis.fill_between(years_of, low, high, color=colour, alpha=0.25, linewidth=0)
        axis.plot(years_of, median, color=colour, linewidth=1)
    axis.plot(years, pelts[:, i], "k.-", linewidth=1)
    axis.set_ylabel(f"{name} (thousands)")
    axis.set_ylim(0, 3 * pelts[:, i].max())
axes[0].set_title("observed (black), one year ahead (blue), the years after (grey): medians and central 90 %", fontsize=9)
fig.savefig("predator_prey.png", dpi=150)
