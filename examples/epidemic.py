# %% [markdown]
# # An epidemic, day by day
#
# A town of 5,000. Every day we know how many are susceptible and how many infected. How infectious is the disease, how long
# does it last, and what can be said on day 10, on day 20, on day 40? One training serves all of them, because what is
# learned is a day.

# %%
import os
import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binom, norm

import catena

QUICK = "--quick" in sys.argv or bool(os.environ.get("CATENA_QUICK"))  # for tests: less of everything
people = 5_000

# %% [markdown]
# ## The simulator
#
# Whole numbers: each susceptible is infected today with probability 1 − exp(−β I/N · e^{noise}), each infected recovers with
# probability 1 − exp(−γ). Days differ (weather, weekends): the infectiousness of a day has a log-normal factor.


# %%
def step(theta, x, rng):
    beta, gamma, spread = theta.T
    susceptible, infected = x.T.astype(int)
    today = beta * np.exp(spread * rng.standard_normal(len(x)))
    new = rng.binomial(susceptible, -np.expm1(-today * infected / people))
    recovered = rng.binomial(infected, -np.expm1(-gamma))
    return np.column_stack([susceptible - new, infected + new - recovered]).astype(float)


prior = catena.priors.Independent({
    "beta": catena.priors.LogNormal(np.log(0.5), 0.6),
    "gamma": catena.priors.LogNormal(np.log(0.2), 0.6),
    "spread": catena.priors.HalfNormal(0.5),
})

# %% [markdown]
# ## Learn one day
#
# Where do days start? Anywhere that an epidemic can be: so we give a function that draws such states.


# %%
def states(count, rng):
    infected = np.round(np.exp(rng.uniform(0, np.log(people / 2), count)))
    share = np.minimum(1, rng.uniform(0, 1.1, count))  # of those not infected; at the start it is all of them
    susceptible = np.round(share * (people - infected))
    return np.column_stack([susceptible, infected])


data = catena.simulate(
    step, prior, proposal=states, state_names=["susceptible", "infected"], budget=2_000 if QUICK else 100_000, seed=1
)
estimator = catena.FNLE(prior, density="mixture", decay=0.1).append_simulations(data)
estimator.train(seed=1, steps=150 if QUICK else 8_000)
posterior = estimator.build_posterior()

# %% [markdown]
# ## What is known on which day?

# %%
truth = np.array([[0.45, 0.18, 0.25]])
rng = np.random.default_rng(3)
series = [np.array([[people - 5.0, 5.0]])]
for _ in range(60):
    series.append(step(truth, series[-1], rng))
series = np.concatenate(series)

days = [10, 20, 40] if not QUICK else [10]
draws = {day: posterior.sample((200 if QUICK else 1_000,), x=series[: day + 1], seed=1) for day in days}
for day, theta in draws.items():
    number = theta[:, 0] / theta[:, 1]
    low, median, high = np.quantile(number, [0.05, 0.5, 0.95])
    print(f"day {day}: R0 = {median:.2f}, 90 % between {low:.2f} and {high:.2f} (true {truth[0, 0] / truth[0, 1]:.2f})")

# %% [markdown]
# ## How right is that?
#
# This simulator is simple enough to integrate the day's factor out by quadrature, so that its exact posterior can be had by
# weighting draws. That is the luxury of an example.

# %%
nodes, weights = np.polynomial.hermite_e.hermegauss(40)
wide = np.exp(np.random.default_rng(4).normal(np.log([0.45, 0.18, 0.25]), [0.25, 0.3, 0.6], (2_000 if QUICK else 20_000, 3)))
log_weight = prior.log_prob(wide) - norm(np.log([0.45, 0.18, 0.25]), [0.25, 0.3, 0.6]).logpdf(np.log(wide)).sum(axis=1)
log_weight += np.log(wide).sum(axis=1)
for day, ((susceptible, infected), (susceptible_next, infected_next)) in enumerate(zip(series[:40], series[1:41], strict=True), 1):
    new = susceptible - susceptible_next
    today = wide[:, :1] * np.exp(wide[:, 2:] * nodes)
    chance = binom.pmf(new, susceptible, -np.expm1(-today * infected / people)) @ weights / weights.sum()
    log_weight += np.log(chance + 1e-300) + binom.logpmf(infected + new - infected_next, infected, -np.expm1(-wide[:, 1]))
    if day in days:
        weight = np.exp(log_weight - log_weight.max())
        order = np.argsort(wide[:, 0] / wide[:, 1])
        share = np.cumsum(weight[order]) / weight.sum()
        low, median, high = (wide[:, 0] / wide[:, 1])[order][np.searchsorted(share, [0.05, 0.5, 0.95])]
        effective = weight.sum() ** 2 / (weight**2).sum()
        print(f"day {day}, exactly: R0 = {median:.2f}, 90 % between {low:.2f} and {high:.2f} ({effective:.0f} effective draws)")

# %% [markdown]
# ## What will happen?
#
# Each day's posterior, run on with the simulator.

# %%
fig, axes = plt.subplots(1, len(days), figsize=(3.2 * len(days) + 1, 3.2), sharey=True, layout="constrained", squeeze=False)
for axis, (day, theta) in zip(axes[0], draws.items(), strict=True):
    runs = [np.tile(series[day], (len(theta), 1))]
    for _ in range(day, 60):
        runs.append(step(theta, runs[-1], rng))
    low, median, high = np.quantile(np.stack(runs)[..., 1], [0.05, 0.5, 0.95], axis=1)
    axis.fill_between(np.arange(day, 61), low, high, color="tab:blue", alpha=0.25, linewidth=0)
    axis.plot(np.arange(day, 61), median, color="tab:blue", linewidth=1)
    axis.plot(series[:, 1], color="0.7", linewidth=1)
    axis.plot(series[: day + 1, 1], "k", linewidth=1.2)
    axis.set_title(f"known on day {day}", fontsize=10)
    axis.set_xlabel("day")
axes[0, 0].set_ylabel("infected")
fig.savefig("epidemic.png", dpi=150)
