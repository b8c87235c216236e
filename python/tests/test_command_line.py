"""What the command line writes, Python reads, and the other way round; and both compute the same bits."""

import catena
import numpy as np
import pytest
import safetensors.numpy
import xarray
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
    np.testing.assert_array_equal(catena.Draws.load(posterior_file).theta, theta)

    # The program reads draws that Python wrote.
    posterior.draws.save(files / "python.nc")
    result = run_program("evaluate", posterior_file, files / "python.nc", "--metrics", "sw1", "--json")
    assert '"sw1": 0.0' in result.stdout


TIMES = np.array([0.0, 1.0, 3.0, 6.0, 7.0, 8.0])


@pytest.fixture(scope="module")
def irregular(files, run_program):
    """A model that knows steps of 1 to 3, and a series with such gaps between its times."""
    run_program("simulate", "gaussian_rw", "--budget", 2000, "--gaps", "1..3", "--seed", 1, "-o", files / "gaps.nc")
    run_program("train", files / "gaps.nc", "--method", "fnle", "--density", "gaussian", "--width", 24, "--layers", 2,
                "--decay", 0.1, "--steps", 200, "--seed", 5, "-o", files / "gaps.safetensors")  # fmt: skip
    rows = catena.tasks.get("gaussian_rw").observe(8, seed=7).series[TIMES.astype(int)]
    table = np.column_stack([TIMES, rows])
    names = ",".join(["time", *catena.load(files / "gaps.safetensors").build_posterior().state_names])
    np.savetxt(files / "gaps.csv", table, delimiter=",", header=names, comments="")
    return files / "gaps.safetensors", rows


def predicted(file):
    """The spread over draws of the series that run on from the first state, and the times beside the observed one."""
    series = xarray.load_dataset(file, group="posterior_predictive")["series"].values[0, :, :, 0]
    return series.std(axis=0), xarray.load_dataset(file, group="observed_data")["time"].values


def test_draws_of_the_program_go_to_python_and_back(irregular, files, run_program):
    model, rows = irregular
    written, again = files / "irregular.nc", files / "again_irregular.nc"
    run_program("sample", model, "--observation", files / "gaps.csv", "-n", 200, "--seed", 9, "-o", written)
    draws = catena.Draws.load(written)
    np.testing.assert_array_equal(draws.series[0].times, TIMES)
    np.testing.assert_array_equal(draws.series[0].rows, rows)
    draws.save(again)
    for file in (written, again):
        run_program("predict", file, "--seed", 1, "-o", files / "predictive.nc")
        spread, times = predicted(files / "predictive.nc")
        np.testing.assert_array_equal(times, TIMES)
        assert spread[0] == 0 and (spread[1:] > 0).all()
        run_program("report", model, file, files / "predictive.nc", "-o", files / "report.html")


@pytest.mark.filterwarnings("ignore:posterior.sample")
def test_draws_of_python_go_to_the_program(irregular, files, run_program):
    model, rows = irregular
    posterior = catena.load(model).build_posterior()
    theta = posterior.sample((200,), x=rows, times=TIMES, seed=9, **QUIET)
    posterior.draws.save(files / "python_irregular.nc")
    np.testing.assert_array_equal(catena.Draws.load(files / "python_irregular.nc").theta, theta)
    run_program("sample", model, "--observation", files / "gaps.csv", "-n", 200, "--seed", 9, "-o", files / "same.nc")
    found = []
    for name in ("python_irregular.nc", "same.nc"):
        run_program("predict", files / name, "--seed", 1, "-o", files / "predictive.nc")
        found.append(predicted(files / "predictive.nc"))
        run_program("report", model, files / name, files / "predictive.nc", "-o", files / "report.html")
    np.testing.assert_array_equal(found[0], found[1])
    # The step from 3 to 6 is three of the simulator's: x⁶ spreads by more than one step's noise does.
    assert found[0][0][3] > found[0][0][1]


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
