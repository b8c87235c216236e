"""Times npe beside sbi's NPE on the same whole series, on one core and in one run: a training step, and 1,000 draws.

    python benchmarks/compare/sbi_npe.py --catena build/catena [--task lotka_volterra] [--budget 10000] [--steps 60]

Needs numpy, h5py and sbi 0.27 (with PyTorch), best in a virtual environment of its own:

    python -m venv sbi && sbi/bin/pip install "sbi==0.27.*" h5py

Without sbi it says so and ends. Both have a GRU of 50 units and a neural spline flow of 5 transformations with 50 units and 10 bins, and
steps of 1,000 series. A step's time is the difference of two trainings, one of N steps longer than the other, over N: what
comes before the first step does not count. They take turns, and the least of the repetitions counts. Draws of sbi are those of one call of
`sample`, those of catena what `catena sample` says of its own time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

try:
    import h5py
    import torch
    from sbi.inference import NPE
    from sbi.neural_nets import posterior_nn
except ImportError as missing:
    sys.exit(f"sbi_npe.py: {missing.name} is not installed, but is what catena is compared with: see the head of this file")

BATCH, FEW = 1000, 10  # series of a step; steps of the shorter training


class LastState(torch.nn.Module):
    """The summary of a series [transitions + 1, states]: the last hidden state of a GRU."""

    def __init__(self, states):
        super().__init__()
        self.gru = torch.nn.GRU(states, 50, batch_first=True)

    def forward(self, series):
        return self.gru(series)[1][-1]


def whole_series(path):
    """θ and series, all of one length, from a file of catena simulate --series."""
    with h5py.File(path) as file:
        theta, sizes = np.asarray(file["theta"], dtype=np.float32), np.asarray(file["row_size"])
        x = np.asarray(file["x"], dtype=np.float32).reshape(len(theta), sizes[0], -1)
    repeats = -(-BATCH // int(0.9 * len(theta)))  # a tenth is held out; a step wants its 1,000
    return torch.from_numpy(np.tile(theta, (repeats, 1))), torch.from_numpy(np.tile(x, (repeats, 1, 1)))


def said_by(command):
    return json.loads(subprocess.run([*command, "--json", "--threads", "1", "-q"], check=True, capture_output=True, text=True).stdout)


def step_of_catena(catena, data, model, steps):
    def seconds(count):
        command = [catena, "train", data, "--method", "npe", "--decay", "0.1", "--steps", str(count), "--patience", "1", "-o", model]
        return said_by(command)["seconds"]

    return (seconds(FEW + steps) - seconds(FEW)) / steps


def step_of_sbi(theta, x, steps):
    def train(epochs):
        torch.manual_seed(1)
        build = posterior_nn("nsf", embedding_net=LastState(x.shape[-1]), hidden_features=50, num_transforms=5, num_bins=10, z_score_x="none")
        inference = NPE(density_estimator=build, show_progress_bars=False)
        inference.append_simulations(theta, x)
        begin = time.perf_counter()
        estimator = inference.train(training_batch_size=BATCH, max_num_epochs=epochs, stop_after_epochs=epochs + 1, learning_rate=1e-3)
        return time.perf_counter() - begin, inference.build_posterior(estimator)

    steps_per_epoch = max(1, int(0.9 * len(theta)) // BATCH)
    few, many = FEW // steps_per_epoch, (FEW + steps) // steps_per_epoch
    short, _ = train(few)
    long, posterior = train(many)
    return (long - short) / ((many - few) * steps_per_epoch), posterior


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catena", default="build/catena")
    parser.add_argument("--task", default="lotka_volterra")
    parser.add_argument("--budget", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # sbi's remarks on series that are not standardised
    catena, least = os.path.abspath(options.catena), {}

    def record(key, seconds):
        least[key] = min(least.get(key, seconds), seconds)

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where sbi leaves its logs
        data, model, observed, draws = (os.path.join(folder, name) for name in ("series.nc", "npe.safetensors", "observed.csv", "draws.nc"))
        said_by([catena, "simulate", options.task, "--series", "10", "--budget", str(options.budget), "--seed", "1", "-o", data])
        said_by([catena, "observe", options.task, "--transitions", "10", "--seed", "2", "-o", observed])
        theta, x = whole_series(data)
        step_of_sbi(theta, x, FEW)  # the first training of a process is slower: it would count as the shorter one
        for _ in range(options.repeat):
            record("catena step", step_of_catena(catena, data, model, options.steps))
            seconds, posterior = step_of_sbi(theta, x, options.steps)
            record("sbi step", seconds)
            # The exit code is about the draws' health, which so short a training does not have.
            command = [catena, "sample", model, "--observation", observed, "-n", "1000", "-o", draws, "--json", "--threads", "1", "-q"]
            record("catena draws", json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["seconds"]["sample"])
            begin = time.perf_counter()
            posterior.sample((1000,), x=x[:1], show_progress_bars=False)
            record("sbi draws", time.perf_counter() - begin)
        os.chdir("/")  # the folder goes
    print(f"{options.task}, series of 10 transitions, {len(theta[0])} parameters, one core, least of {options.repeat}")
    for what, label in (("step", f"a step of {BATCH} series"), ("draws", "1,000 draws")):
        ours, theirs = least[f"catena {what}"], least[f"sbi {what}"]
        print(f"  {label:<24} catena {1e3 * ours:8.1f} ms   sbi {1e3 * theirs:8.1f} ms   {theirs / ours:6.1f} times as fast")


if __name__ == "__main__":
    main()
