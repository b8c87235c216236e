"""Damaged files, many of them: each ends in a sentence or is read, never in a crash, a hang, a bug of ours or a gigabyte.

    python mutate.py FOLDER COUNT SEED

damages the files of FOLDER (models, sets, draws) COUNT times in all and uses each as a user would. Prints one line for every one that
does not end as it should, and a count. Run by test_mutations.py in a process of its own with little memory.
"""

from __future__ import annotations

import json
import pathlib
import random
import resource
import struct
import sys
import time
import warnings

import catena
import numpy as np

ALLOWED = (catena.FileError, ValueError, TypeError, catena.SamplingFailure)
MOST_WORK = 1.0  # seconds of the processor, ours and of the process that reads netCDF
MOST_MEMORY = 1 << 30  # bytes of either
LONGEST = 20.0  # seconds by the clock, on a machine that does other things too: a process that waits for ever
NUMBERS = [0, -1, 1, 2**31, 2**63 - 1, 1e308, -1e308, 1e-308, 0.5]
OTHERS = [None, True, "", "x", "nan", [], {}, [[]], [None]]


def places(value, path=()):
    """The ways to everything inside a JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:20]) if isinstance(value, list) else ()
    for key, each in items:
        yield from places(each, (*path, key))


def damage_json(value, rng):
    """Deletes or replaces something inside it."""
    path = rng.choice(list(places(value)))
    at = value
    for key in path[:-1]:
        at = at[key]
    if rng.random() < 0.4:
        del at[path[-1]]
    else:
        at[path[-1]] = rng.choice(NUMBERS + OTHERS)


def damage_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data))
        data[at] = rng.choice([0, 255, rng.randrange(256)])
    return bytes(data[: rng.randrange(1, len(data))]) if rng.random() < 0.2 else bytes(data)


def damaged(path, rng):
    data = path.read_bytes()
    if path.suffix != ".safetensors" or rng.random() < 0.3:
        return damage_bytes(data, rng)
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header["__metadata__"]["catena"])
    damage_json(about, rng)
    header["__metadata__"]["catena"] = json.dumps(about)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def use(path):
    """As a user would."""
    quiet = {"show_progress_bars": False, "threads": 1}
    if path.suffix == ".safetensors":
        estimator = catena.load(path)
        posterior = estimator.build_posterior()
        series = np.linspace(-1, 1, 5)[:, None] * np.ones(len(posterior.state_names))
        repr(posterior), repr(estimator), posterior.help_text()
        draws = {} if estimator.method in ("fnse", "fnbe") else {"chains": 2, "most_steps": 64, "population": 16}
        posterior.sample((8,), x=series, **quiet, **draws)
    elif path.stem == "draws":
        catena.Draws.load(path).info
    else:
        data = catena.Transitions.load(path)
        estimator = catena.FNLE(data.prior, density="gaussian", decay=0.1).append_simulations(data)
        estimator.train(steps=3, batch_size=20, **quiet)


def used():
    """Seconds of the processor so far, and the largest memory of any process."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both), 1024 * max(each.ru_maxrss for each in both)


def main(folder, count, seed):
    rng = random.Random(seed)
    files = sorted(path for path in folder.iterdir() if path.suffix in (".safetensors", ".nc"))
    wrong = 0
    for k in range(count):
        original = files[k % len(files)]
        path = folder / "damaged" / original.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(damaged(original, rng))
        began, worked, ended = time.monotonic(), used()[0], ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(path)
        except ALLOWED as error:
            if "bug of ours" in str(error):
                ended = repr(error)
        except BaseException as error:
            ended = f"{type(error).__name__}: {error}"
        seconds, (work, memory) = time.monotonic() - began, used()
        if seconds > LONGEST or work - worked > MOST_WORK or memory > MOST_MEMORY:
            ended = f"took {seconds:.1f} s, {work - worked:.1f} s of work and {memory >> 20} MB {ended}"
        if ended:
            wrong += 1
            kept = folder / f"wrong-{k}-{original.name}"
            kept.write_bytes(path.read_bytes())
            print(f"{kept}: {ended}", flush=True)
    print(f"{count} damaged files, {wrong} that did not end as they should", flush=True)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
