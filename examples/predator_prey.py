# %% [markdown]
# # Hares and lynxes
#
# The Hudson's Bay Company counted pelts of snowshoe hares and Canadian lynxes every year (in thousands; 1900 to 1920,
# as in Hewitt 1921). We ask which rates of a stochastic Lotka–Volterra system fit them, from transitions of one year. Rows
# have dates, and the ledgers of two years are lost: we took them out ourselves, to see afterwards what was in them.

# %%
import os
import sys

import arviz
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import catena

QUICK = "--quick" in sys.argv or bool(os.environ.get("CATENA_QUICK"))  # for tests: less of everything

hares = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
lynxes = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
counted = pd.DataFrame({"hares": hares, "lynxes": lynxes}, index=pd.date_range("1900-01-01", periods=21, freq="YS"))
lost = ["1909-01-01", "1910-01-01"]
pelts = counted.drop(index=pd.to_datetime(lost))

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
# ## Learn one year, and up to three
#
# The series is at hand, so transitions start from its states, widely blurred. Over the lost years the chain steps at once:
# records of one, two and three years in turn teach it how.

# %%
data = catena.simulate(
    step, prior, proposal=catena.proposals.Target(pelts), state_names=["hares", "lynxes"], gaps=(1, 3),
    budget=2_000 if QUICK else 100_000, seed=1,
)
estimator = catena.FNLE(prior, density="mixture", decay=0.1).append_simulations(data)
estimator.train(seed=1, steps=150 if QUICK else 8_000)
posterior = estimator.build_posterior(time_unit="year")  # what a step of the simulator is

# %% [markdown]
# ## Twenty years
#
# The index of the table says when each row was, so that the gap is found by itself.

# %%
posterior.sample((200 if QUICK else 2_000,), x=pelts, seed=1)
summary = posterior.summary(interval=0.9)
print(summary.round(3).to_string())
for name, row in summary.iterrows():
    print(f"{name:8} {row['median']:7.3f}   90 % between {row['q5']:.3f} and {row['q95']:.3f}")

# %% [markdown]
# ## Do these rates make such series?
#
# One step ahead of each observed state, and the next ten years after the last. ArviZ adds how well single transitions are
# foreseen by the others (leave-one-out), for comparing this model with another.

# %%
predictive = posterior.predict(step, 200, horizon=10, seed=1)
ahead, future = predictive.bands("one_step"), predictive.bands("forecast")
for state in pelts:
    inside = pelts[state][1:].between(ahead[f"{state}_low"][1:], ahead[f"{state}_high"][1:]).mean()
    print(f"{state}: {inside:.0%} of the counts are inside the central 90 % one step ahead")
print(arviz.loo(posterior.to_arviz()))

# %% [markdown]
# ## What was in the lost ledgers?
#
# Two years on from 1908, and what was counted then.

# %%
before = pelts.loc["1908-01-01"].to_numpy()
states = np.tile(before, (len(posterior.draws.theta), 1))
rng = np.random.default_rng(1)
for date in lost:
    states = step(posterior.draws.theta, states, rng)
    for i, state in enumerate(pelts):
        low, high = np.quantile(states[:, i], [0.05, 0.95])
        found = counted.loc[date, state]
        print(f"{date[:4]}: {state} between {low:.1f} and {high:.1f} with 90 %; counted were {found}")

# %%
fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for axis, state in zip(axes, pelts, strict=True):
    for bands, colour in [(ahead[1:], "tab:blue"), (future, "tab:grey")]:
        axis.fill_between(bands.index, bands[f"{state}_low"], bands[f"{state}_high"], color=colour, alpha=0.25, linewidth=0)
        axis.plot(bands.index, bands[f"{state}_median"], color=colour, linewidth=1)
    axis.plot(pelts.index, pelts[state], "k.-", linewidth=1)
    axis.plot(pd.to_datetime(lost), counted.loc[lost, state], "o", color="tab:orange", markersize=4)
    axis.set_ylabel(f"{state} (thousands)")
    axis.set_ylim(0, 3 * pelts[state].max())
axes[0].set_title("observed (black), one step ahead (blue), the years after (grey): medians and central 90 %; lost (orange)", fontsize=9)
fig.savefig("predator_prey.png", dpi=150)
