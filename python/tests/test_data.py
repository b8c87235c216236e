"""Data made elsewhere: arrays of every kind and type become the same transitions; what cannot is refused in a sentence."""

import catena
import hypothesis
import hypothesis.extra.numpy
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import xarray
from catena import _arrays
from drift_walk import QUIET

TYPES = [np.float64, np.float32, np.float16, np.int64, np.int16, np.uint8, np.bool_]


@hypothesis.given(
    hypothesis.extra.numpy.arrays(
        dtype=st.sampled_from(TYPES),
        shape=hypothesis.extra.numpy.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=6),
        elements={"min_value": 0, "max_value": 1},
    ),
    st.sampled_from(["C", "F", "reversed", "every second"]),
)
@hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
def test_arrays_of_any_type_and_layout_become_rows(array, layout):
    if layout == "F":
        array = np.asfortranarray(array)
    elif layout == "reversed":
        array = array[::-1]
    elif layout == "every second":
        array = np.repeat(array, 2, axis=0)[::2]
    rows = _arrays.as_rows(array, "test", "x")
    assert rows.dtype == np.float64 and rows.flags.c_contiguous and rows.ndim == 2
    np.testing.assert_array_equal(rows, np.atleast_2d(array.T).T.astype(float))


def test_float64_rows_are_not_copied(transitions):
    array = np.zeros((5, 2))
    assert np.shares_memory(_arrays.as_rows(array, "test", "x"), array)
    assert np.shares_memory(transitions.x, transitions.x)
    assert not transitions.x.flags.writeable


class Tensor:
    """What PyTorch's tensors offer, without PyTorch."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    cpu = detach

    def __array__(self, dtype=None, copy=None):
        return self.array


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [Tensor, OnlyDlpack, np.ndarray.tolist, xarray.DataArray, pd.DataFrame])
def test_arrays_of_other_libraries_are_arrays(kind):
    array = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(_arrays.as_rows(kind(array), "test", "x"), array)


def test_results_of_a_simulator_may_be_tensors(prior):
    data = catena.simulate(
        lambda theta, x: Tensor(x.astype(np.float32)), prior, proposal=catena.proposals.Box(0, 1), budget=50, **QUIET
    )
    np.testing.assert_allclose(data.x_next, data.x, rtol=1e-6)


@pytest.mark.parametrize("value", ["text", None, [[1], [1, 2]], [["a"]], {"a": 1}])
def test_what_is_no_array_of_numbers_is_a_type_error(value):
    with pytest.raises(TypeError, match="test: x is a .* that is no array of numbers"):
        _arrays.as_rows(value, "test", "x")


def arrays(count=60):
    rng = np.random.default_rng(0)
    return rng.standard_normal((count, 2)), rng.standard_normal((count, 2)), rng.standard_normal((count, 2))


@pytest.fixture(scope="module")
def two():
    return catena.priors.Independent({"a": catena.priors.Normal(), "b": catena.priors.Normal()})


def only(estimator):
    return estimator._data[0]


def test_arrays_frames_datasets_and_files_are_the_same_data(two, tmp_path):
    theta, x, x_next = arrays()
    wanted = only(catena.FNSE(two).append_simulations(theta, x, x_next, state_names=["p", "q"]))
    frames = catena.FNSE(two).append_simulations(
        pd.DataFrame({"b": theta[:, 1], "a": theta[:, 0]}),
        pd.DataFrame(x, columns=["p", "q"]),
        pd.DataFrame(x_next, columns=["p", "q"]),
    )
    dataset = catena.FNSE(two).append_simulations(wanted.to_xarray())
    wanted.save(tmp_path / "a.nc")
    file = catena.FNSE().append_simulations(tmp_path / "a.nc")
    opened = xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf")
    for other in (frames, dataset, file, catena.FNSE(two).append_simulations(opened)):
        for name in ("theta", "x", "x_next"):
            np.testing.assert_array_equal(getattr(only(other), name), getattr(wanted, name))
        assert only(other).state_names == ["p", "q"]
    opened.close()


def test_several_parts_are_trained_on_together(two, tmp_path, run_program):
    """Mixed, so that some of each are held out; as the command line does with several files."""
    theta, x, x_next = arrays()
    parts = catena.FNLE(two).append_simulations(theta[:40], x[:40], x_next[:40])
    parts.append_simulations(theta[40:], x[40:], x_next[40:])
    joined, _, _ = parts._all_data()
    order = np.lexsort(joined.theta.T)
    wanted = np.lexsort(theta.T)
    for name, whole in (("theta", theta), ("x", x), ("x_next", x_next)):
        np.testing.assert_array_equal(getattr(joined, name)[order], whole[wanted])
    assert not np.array_equal(joined.theta, theta)
    for i, data in enumerate(parts._data):
        data.save(tmp_path / f"{i}.nc")
    output = tmp_path / "model.safetensors"
    run_program("train", tmp_path / "0.nc", tmp_path / "1.nc", "--method", "fnle", "--steps", "10", "-o", output, "--quiet")
    losses = [
        [network["held_out_loss"] for network in each.describe()["networks"].values()]
        for each in (parts.train(steps=10, **QUIET), catena.load(output))
    ]
    assert losses[0] == losses[1]


def test_rows_that_are_not_finite_are_dropped_with_a_warning(two):
    theta, x, x_next = arrays()
    x_next[3, 1] = np.nan
    with pytest.warns(UserWarning, match="1 of 60 transitions are not finite and were dropped"):
        data = only(catena.FNSE(two).append_simulations(theta, x, x_next))
    assert len(data) == 59 and data.provenance["invalid"] == 1
    x_next[10:] = np.inf
    with pytest.raises(ValueError, match="max_invalid"):
        catena.FNSE(two).append_simulations(theta, x, x_next)


def test_misuse_is_one_sentence(two, fnle, series):
    theta, x, x_next = arrays()
    with pytest.raises(TypeError, match="the prior of theta is missing"):
        catena.FNSE().append_simulations(theta, x, x_next)
    with pytest.raises(ValueError, match="theta has 30 rows, but must have 60"):
        catena.FNSE(two).append_simulations(theta[:30], x, x_next)
    with pytest.raises(ValueError, match=r"theta is of shape \(60, 1\), but must be of shape \[N, 2\]"):
        catena.FNSE(two).append_simulations(theta[:, :1], x, x_next)
    with pytest.raises(TypeError, match="'layer' is unknown, but must be one of .*did you mean layers"):
        catena.FNSE(two, layer=3)
    with pytest.raises(TypeError, match="'step' is unknown.*did you mean steps"):
        catena.FNSE(two).append_simulations(theta, x, x_next).train(step=3)
    with pytest.raises(ValueError, match="learning_rate is -1"):
        catena.FNSE(two).append_simulations(theta, x, x_next).train(learning_rate=-1, **QUIET)
    with pytest.raises(ValueError, match="call append_simulations first"):
        catena.FNSE(two).train()
    with pytest.raises(ValueError, match="bins is 3, but density = gaussian does not use it"):
        catena.FNLE(two, density="gaussian", bins=3).append_simulations(theta, x, x_next).train(**QUIET)
    with pytest.raises(ValueError, match="preset is paper, but fnbe is no method of it"):
        catena.FNBE(two, preset="paper").append_simulations(theta, x, x_next).train(**QUIET)
    with pytest.raises(ValueError, match="FNSE is not trained"):
        catena.FNSE(two).build_posterior()
    posterior = fnle.build_posterior()
    with pytest.raises(ValueError, match="x is missing"):
        posterior.sample((10,))
    with pytest.raises(ValueError, match=r"x is of shape \(7, 2\)"):
        posterior.sample((10,), x=np.hstack([series, series]))
    with pytest.raises(ValueError, match="from row 3 to row 5 of the series is 2.*or set cut_gaps"):
        posterior.sample((10,), x=np.where(np.arange(7)[:, np.newaxis] == 3, np.nan, series))
    with pytest.raises(TypeError, match="'warmup' is unknown.*did you mean warm_up"):
        posterior.sample((10,), x=series, warmup=3)
    with pytest.raises(ValueError, match="sample_shape"):
        posterior.sample((0,), x=series)


def test_a_broken_file_is_a_file_error(tmp_path):
    (tmp_path / "a.safetensors").write_text("nonsense")
    with pytest.raises(catena.FileError):
        catena.load(tmp_path / "a.safetensors")
    with pytest.raises(OSError):
        catena.load(tmp_path / "missing.safetensors")
    with pytest.raises(ValueError):
        catena.Transitions.load(tmp_path / "a.safetensors")


def test_a_data_frame_with_times_is_a_series(two):
    rng = np.random.default_rng(1)
    theta, x = rng.standard_normal((200, 2)), rng.standard_normal((200, 2))
    data = (theta, x, x + theta, rng.integers(0, 5, 200))
    estimator = catena.FNLE(two).append_simulations(*data, state_names=["p", "q"]).train(steps=30, **QUIET)
    frame = pd.DataFrame({"q": [0.1, 0.2, 0.4], "t": [0, 1, 2], "p": [0.0, 0.1, 0.2]})
    posterior = estimator.build_posterior()
    first = posterior.sample((20,), x=frame, **QUIET)
    second = posterior.sample((20,), x=frame[["p", "q"]].to_numpy(), times=[0, 1, 2], **QUIET)
    np.testing.assert_array_equal(first, second)
