"""Times the C2ST of `catena evaluate` beside the one of `sbi` on the same samples, in one run, and prints the ratio.

    python benchmarks/compare/c2st.py --catena build/catena [--threads N] [--repeat R]

Needs numpy and scikit-learn. If `sbi` itself is installed its own function is timed; otherwise the same calls of
scikit-learn without PyTorch around them (tests/data/metrics/c2st_scikit_learn.py), which are all the work it does. Both
are timed by the wall clock with what each uses by default; the two take turns, so that both see the same load, and the
best of R runs counts. catena's time includes starting the program and reading the files.
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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "data", "metrics"))
from c2st_scikit_learn import c2st as c2st_of_scikit_learn  # noqa: E402
from sample_pairs import DIMENSIONS, sample_pair  # noqa: E402

try:
    import torch
    from sbi.utils.metrics import c2st as c2st_of_sbi

    PEER = "sbi"

    def peer(a, b, classifier):
        name = {"forest": "rf", "mlp": "mlp"}[classifier]
        return float(c2st_of_sbi(torch.from_numpy(a).float(), torch.from_numpy(b).float(), classifier=name))
except ImportError:
    PEER = "scikit-learn"

    def peer(a, b, classifier):
        return c2st_of_scikit_learn(a, b, classifier, seed=1)


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--catena", default=os.path.join(ROOT, "build", "catena"))
    parser.add_argument("--threads", type=int, default=0, help="of catena; 0: as many as the machine has")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kind", default="shifted", help="which pair of samples: equal, shifted, rescaled, missing_mode")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's remarks on convergence

    print(f"{'classifier':<12}{'dimension':>9}{PEER + ' [s]':>18}{'catena [s]':>12}{'ratio':>8}"
          f"{PEER + ' score':>20}{'catena score':>14}")
    for classifier, metric in (("forest", "c2st"), ("mlp", "c2st_mlp")):
        for dimension in DIMENSIONS:
            a, b = sample_pair(arguments.kind, dimension)
            with tempfile.TemporaryDirectory() as folder:
                paths = [os.path.join(folder, name) for name in ("a.csv", "b.csv")]
                for path, sample in zip(paths, (a, b)):
                    np.savetxt(path, sample, delimiter=",", fmt="%.17g")
                command = [arguments.catena, "evaluate", *paths, "--json", "--metrics", metric, "--seed", "1",
                           "--threads", str(arguments.threads), "--quiet"]

                def ours():
                    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[metric]

                runs = [(timed(lambda: peer(a, b, classifier)), timed(ours)) for _ in range(arguments.repeat)]
            peer_time = min(theirs[0] for theirs, _ in runs)
            our_time = min(own[0] for _, own in runs)
            print(f"{classifier:<12}{dimension:>9}{peer_time:>18.3f}{our_time:>12.3f}{peer_time / our_time:>8.1f}"
                  f"{runs[0][0][1]:>20.4f}{runs[0][1][1]:>14.4f}", flush=True)


if __name__ == "__main__":
    main()
