"""Times the default training of `catena train` beside that of sbi's NLE on the same transitions, in one run, and prints the ratio.

    python benchmarks/compare/sbi_training.py --catena build/catena [--task lotka_volterra] [--budget 10000] [--threads 2]

Needs numpy, h5py and sbi 0.27 (with PyTorch), best in a virtual environment of its own:

    python -m venv sbi && sbi/bin/pip install "sbi==0.27.*" h5py

Without sbi it says so and ends. sbi learns the same conditional density, p(x^(t+1) | x^t, θ), with its default estimator (a masked
autoregressive flow), until its own rule says that it has converged. Both have the same number of threads and the wall clock; they run
one after the other, catena twice, before and after, so that a change in the machine's load shows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import h5py
    import torch
    from sbi.inference import NLE
except ImportError as missing:
    sys.exit(f"sbi_training.py: {missing.name} is not installed, but is what catena is compared with: see the head of this file")


def transitions(path):
    """θ and x^t beside each other, and x^(t+1), from a file of catena simulate."""
    with h5py.File(path) as file:
        theta, x, x_next = (np.asarray(file[name], dtype=np.float32) for name in ("theta", "x", "x_next"))
    x, x_next = x.reshape(len(theta), -1), x_next.reshape(len(theta), -1)
    return np.c_[theta, x], x_next


def seconds_of_catena(catena, data, model, method, threads):
    begin = time.perf_counter()
    command = [catena, "train", data, "--method", method, "--threads", str(threads), "-o", model, "--json", "--seed", "1"]
    result = subprocess.run([*command, "--progress", "none"], check=True, capture_output=True, text=True)
    return time.perf_counter() - begin, json.loads(result.stdout)


def seconds_of_sbi(data, threads):
    torch.manual_seed(1)
    torch.set_num_threads(threads)
    given, x_next = transitions(data)
    begin = time.perf_counter()
    inference = NLE(density_estimator="maf", show_progress_bars=False)
    inference.append_simulations(torch.from_numpy(given), torch.from_numpy(x_next))
    inference.train(show_train_summary=False)
    return time.perf_counter() - begin, inference.summary["epochs_trained"][-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catena", default="build/catena")
    parser.add_argument("--task", default="lotka_volterra")
    parser.add_argument("--budget", type=int, default=10_000)
    parser.add_argument("--method", default="fnle")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, model = os.path.join(folder, "transitions.nc"), os.path.join(folder, "model.safetensors")
        simulate = [options.catena, "simulate", options.task, "--budget", str(options.budget), "--seed", "1", "-o", data]
        subprocess.run([*simulate, "-q"], check=True)
        before, _ = seconds_of_catena(options.catena, data, model, options.method, options.threads)
        peer, epochs = seconds_of_sbi(data, options.threads)
        after, _ = seconds_of_catena(options.catena, data, model, options.method, options.threads)
    ours = min(before, after)
    print(f"{options.task}, {options.budget} transitions, {options.threads} threads")
    print(f"  catena {options.method:<12} {before:8.1f} s and {after:.1f} s")
    print(f"  sbi NLE (maf)       {peer:8.1f} s, {epochs} epochs")
    print(f"  ratio               {ours / peer:8.2f}")


if __name__ == "__main__":
    main()
