"""Model files of this and earlier versions stay readable and mean the same (tests/data/models)."""

import json
import pathlib

import catena
import numpy as np
import pytest
from drift_walk import QUIET

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/data/models"
MODELS = sorted(FOLDER.glob("*/*.safetensors"))


def test_there_are_models_of_every_method():
    # The default of 0.1.0's fnse is fnbe now: its file is of that method, whatever its name.
    assert {catena.load(path).method for path in MODELS} == set(catena.METHODS)


@pytest.mark.filterwarnings("ignore:posterior.sample")  # small models and short chains: only their agreement counts
@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_old_model_gives_its_old_answers(path):
    record = json.loads(path.with_suffix(".json").read_text())
    # A network of 60 steps is the score of nothing, so that every sampler makes something else of it: its own is named.
    posterior = catena.load(path).build_posterior(**record.get("settings", {}))
    assert posterior.prior.names == record["parameters"] and posterior.state_names == record["state_names"]
    if "log_prob" in record:
        # Sums of a few single-precision networks: other vector widths change the last digits alone.
        found = posterior.log_prob(record["theta"], x=record["series"])
        np.testing.assert_allclose(found, record["log_prob"], rtol=1e-4, atol=1e-3)
    draws = posterior.sample((200,), x=record["series"], seed=5, **QUIET)
    # Samplers may improve and then draw other numbers from the same posterior: 200 draws each, so the means differ by
    # at most 4.5 · sd · √(2/200); four parameters in each of four files make a false alarm of 1e-4, once for each new
    # sampler.
    deviation = np.array(record["deviation"])
    assert (np.abs(draws.mean(axis=0) - record["mean"]) < 4.5 * deviation * (2 / 200) ** 0.5).all()
