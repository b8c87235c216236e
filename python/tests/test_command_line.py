"""What the command line writes, Python reads, and the other way round; and both compute the same bits."""

import catena
import numpy as np
import pytest
import safetensors.numpy
from drift_walk import QUIET


@pytest.fixture(scope="module")
def files(run_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    run_program("simulate", "gaussian_rw", "--budget", 2000, "--seed", 1, "-o", folder / "transitions.nc")
    run_program("observe", "gaussian_rw", "--transitions", 8, "--seed", 7, "-o", folder / "series.csv")
    return folder


@pytest.mark.parametrize("method, settings", [("fnle", {}), ("fnse", {"network": "separable", "ensemble": 1}), ("fnbe", {})])
def test_the_same_seed_trains_the_same_bits(method, settings, files, run_program):
    flags = [f"--{name}={value}" for name, value in settings.items()]
    model = files / f"{method}.safetensors"
    run_program("train", files / "transitions.nc", "--method", method, "--steps", 80, "--seed", 5, "-o", model, *flags)
    estimator = getattr(catena, method.upper())(**settings)
    data = catena.tasks.get("gaussian_rw").simulate(budget=2000, seed=1, **QUIET)
    estimator.append_simulations(data).train(steps=80, seed=5, threads=1, **QUIET)
    estimator.save(files / f"{method}_python.safetensors")
    ours = safetensors.numpy.load_file(files / f"{method}_python.safetensors")
    theirs = safetensors.numpy.load_file(model)
    assert ours.keys() == theirs.keys() and len(ours) > 3
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name])
    assert estimator.describe()["settings"] == catena.load(model).describe()["settings"]
    assert estimator.describe()["transitions"] == catena.load(model).describe()["transitions"]

    # And the same draws, from either file.
    posterior_file = files / f"{method}.nc"
    series = catena.tasks.get("gaussian_rw").observe(8, seed=7).series
    np.testing.assert_array_equal(np.loadtxt(files / "series.csv", delimiter=",", skiprows=1, ndmin=2), series)
    run_program("sample", files / f"{method}_python.safetensors", "--observation", files / "series.csv",
                "-n", 200, "--seed", 9, "-o", posterior_file)  # fmt: skip
    posterior = catena.load(model).build_posterior()
    theta = posterior.sample((200,), x=series, seed=9, **QUIET)
    _, draws = catena._core.read_draws(str(posterior_file))
    np.testing.assert_array_equal(draws, theta)

    # The program reads draws that Python wrote.
    posterior.draws.save(files / "python.nc")
    result = run_program("evaluate", posterior_file, files / "python.nc", "--metrics", "sw1", "--json")
    assert '"sw1": 0.0' in result.stdout


def test_transitions_go_both_ways(files, run_program):
    data = catena.Transitions.load(files / "transitions.nc")
    np.testing.assert_array_equal(data.x, catena.tasks.get("gaussian_rw").simulate(budget=2000, seed=1, **QUIET).x)
    catena.Transitions.load(files / "transitions.nc").save(files / "again.nc")
    run_program("train", files / "again.nc", "--method", "fnle", "--steps", 20, "-o", files / "again.safetensors")
    assert repr(catena.load(files / "again.safetensors")) == "FNLE(trained; parameters theta_1)"


def test_training_from_a_file_equals_training_from_memory(files):
    def loss(data):
        estimator = catena.FNLE().append_simulations(data).train(steps=40, **QUIET)
        return [network["held_out_loss"] for network in estimator.describe()["networks"].values()]

    loaded = catena.Transitions.load(files / "transitions.nc")
    in_memory = catena.Transitions(loaded._core)
    assert loss(str(files / "transitions.nc")) == loss(in_memory)
