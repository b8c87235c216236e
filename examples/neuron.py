# %% [markdown]
# # A noisy neuron
#
# FitzHugh and Nagumo's model of a neuron: a voltage v that fires and a recovery variable w,
#
#     dv = (v − v³/3 − w + current) dt + noise dB,    dw = (v + a − b w)/slowness dt.
#
# From a recording of both, sampled every 0.5 time units: which current drives it, and how noisy is it? And which part of the
# recording says so, the spikes or the silence between them?

# %%
import json
import os
import pathlib
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np

import catena

QUICK = "--quick" in sys.argv or bool(os.environ.get("CATENA_QUICK"))  # for tests: less of everything


# %%
def step(theta, x, rng):
    current, a, b, slowness, noise = theta.T
    v, w = x.T
    steps = 10
    dt = 0.5 / steps
    for _ in range(steps):
        dB = np.sqrt(dt) * rng.standard_normal((2, len(x)))
        v, w = (
            v + (v - v**3 / 3 - w + current) * dt + noise * dB[0],
            w + (v + a - b * w) / slowness * dt + 0.02 * dB[1],
        )
    return np.column_stack([v, w])


prior = catena.priors.Independent({
    "current": catena.priors.Uniform(0, 1),
    "a": catena.priors.Normal(0.7, 0.2),
    "b": catena.priors.Normal(0.8, 0.2),
    "slowness": catena.priors.LogNormal(np.log(12), 0.3),
    "noise": catena.priors.HalfNormal(0.3),
})

# %% [markdown]
# ## Learn a step
#
# From anywhere in the plane that a neuron visits; a step that leaves the finite numbers is dropped and counted.

# %%
data = catena.simulate(
    step, prior, proposal=catena.proposals.Box([-2.5, -1.2], [2.5, 2.2]), state_names=["v", "w"],
    budget=2_000 if QUICK else 50_000, seed=1,
)
estimator = catena.FNLE(prior, density="gaussian", decay=0.1).append_simulations(data)
estimator.train(seed=1, steps=150 if QUICK else 8_000)
posterior = estimator.build_posterior()

# %% [markdown]
# ## A recording of 300 steps

# %%
truth = np.array([[0.5, 0.7, 0.8, 12.5, 0.1]])
rng = np.random.default_rng(2)
series = [np.array([[-1.2, -0.6]])]
for _ in range(60 if QUICK else 300):
    series.append(step(truth, series[-1], rng))
series = np.concatenate(series)

theta = posterior.sample((200 if QUICK else 2_000,), x=series, seed=1)
for name, true, low, median, high in zip(prior.names, truth[0], *np.quantile(theta, [0.05, 0.5, 0.95], axis=0), strict=True):
    print(f"{name:9} {median:7.3f}   90 % between {low:.3f} and {high:.3f}   (true {true})")

# %% [markdown]
# ## Which part of the recording says so?
#
# The share of the prior's variance that each step took away; shares add up to what the whole recording took away (see "Where the
# information comes from" in the documentation). The report computes it: here as figures in JSON, without `--format` as a page.

# %%
estimator.save("neuron.safetensors")
posterior.draws.save("neuron.nc")
command = [sys.executable, "-m", "catena", "report", "neuron.safetensors", "neuron.nc", "-o", "neuron_figures", "--format", "json"]
subprocess.run(command, check=True)
views = json.loads(pathlib.Path("neuron_figures/information.json").read_text())["concat"]
shares = [[bar["y"] for bar in view["layer"][0]["data"]["values"]] for view in views]  # all parameters, then each
edges = [bar["x"] for bar in views[0]["layer"][0]["data"]["values"]]

# %%
time = 0.5 * np.arange(len(series))
shown = [0, 1, 1 + prior.names.index("noise")]
fig, axes = plt.subplots(
    1 + len(shown), 2, figsize=(10, 5), layout="constrained", width_ratios=[3, 1], height_ratios=[2] + [1] * len(shown), sharex="col"
)
axes[0, 0].plot(time, series[:, 0], "k", linewidth=1, label="v")
axes[0, 0].plot(time, series[:, 1], color="0.6", linewidth=1, label="w")
axes[0, 0].legend(frameon=False, loc="upper right")
axes[0, 0].set_title("a recording, and how much each part of it says", fontsize=10)
for axis, i in zip(axes[1:, 0], shown, strict=True):
    axis.bar(0.5 * np.array(edges), 100 * np.array(shares[i]), width=0.5 * (edges[1] - edges[0]), align="edge", color="tab:blue")
    axis.set_ylabel(f"{['all', *prior.names][i]}\n(%)")
axes[-1, 0].set_xlabel("time")
for axis in axes[:, 1]:
    axis.remove()
box = fig.add_subplot(axes[0, 1].get_gridspec()[:, 1])
prior_sd = prior.sample((20_000,), seed=2).std(axis=0)
box.boxplot((theta - truth) / prior_sd, orientation="horizontal", tick_labels=prior.names, whis=(5, 95), showfliers=False,
            medianprops={"color": "tab:blue"})
box.axvline(0, color="tab:orange", linewidth=1)
box.set_title("posterior − truth,\nin prior deviations", fontsize=10)
fig.savefig("neuron.png", dpi=150)
