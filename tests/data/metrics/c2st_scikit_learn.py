"""Writes c2st_scikit_learn.json: the C2ST of the pairs of sample_pairs.py as the `sbi` package computes it (the steps of
sbi.utils.metrics.c2st in version 0.27, here without PyTorch), for the seeds 1 to 10.

    python c2st_scikit_learn.py        # needs numpy and scikit-learn; some ten minutes
"""

import json
import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neural_network import MLPClassifier

from sample_pairs import DIMENSIONS, KINDS, sample_pair

SEEDS = range(1, 11)


def c2st(x, y, classifier, seed):
    x, y = x.astype(np.float32), y.astype(np.float32)
    mean, deviation = x.mean(axis=0), x.std(axis=0, ddof=1)
    x, y = (x - mean) / deviation, (y - mean) / deviation
    if classifier == "forest":
        model = RandomForestClassifier(random_state=seed)
    else:
        width = 10 * x.shape[1]
        model = MLPClassifier(random_state=seed, activation="relu", hidden_layer_sizes=(width, width), max_iter=1000,
                              solver="adam", early_stopping=True, n_iter_no_change=50)
    labels = np.concatenate((np.zeros(len(x)), np.ones(len(y))))
    folds = KFold(n_splits=5, shuffle=True, random_state=seed)
    return float(cross_val_score(model, np.concatenate((x, y)), labels, cv=folds, scoring="accuracy").mean())


def entry(case):
    kind, dimension, classifier = case
    scores = np.array([c2st(*sample_pair(kind, dimension), classifier, seed) for seed in SEEDS])
    return {"kind": kind, "dimension": dimension, "classifier": classifier, "mean": round(float(scores.mean()), 6),
            "sd": round(float(scores.std(ddof=1)), 6)}


if __name__ == "__main__":
    cases = [(k, d, c) for c in ("forest", "mlp") for k in KINDS for d in DIMENSIONS]
    with ProcessPoolExecutor() as pool:
        entries = list(pool.map(entry, cases))
    result = {"recipe": "tests/data/metrics/c2st_scikit_learn.py, seeds 1 to 10",
              "scikit_learn": sklearn.__version__, "numpy": np.__version__, "entries": entries}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "c2st_scikit_learn.json")
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
