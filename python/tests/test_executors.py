"""simulate(…, executor=…) on the executors that clusters have: Dask's and MPI's. The data are those of one process."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import drift_walk
import numpy as np
import pytest

import catena

PRIOR = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
ARGUMENTS = {"proposal": catena.proposals.Box(-5, 5), "budget": 5000, "seed": 1, "show_progress_bars": False}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("one") / "set.nc"
    catena.simulate(drift_walk.drift_step, PRIOR, path=path, **ARGUMENTS)
    return path


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed")
@pytest.mark.filterwarnings("ignore")  # of Dask's own
def test_dask_gives_the_data_of_one_process(expected, tmp_path):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc://") as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        data = catena.simulate(drift_walk.drift_step, PRIOR, executor=executor, workers=4, **ARGUMENTS)
        catena.simulate(drift_walk.drift_step, PRIOR, executor=executor, workers=4, path=tmp_path / "set.nc", **ARGUMENTS)
        executor.shutdown()
    assert (tmp_path / "set.nc").read_bytes() == expected.read_bytes()
    np.testing.assert_array_equal(data.x_next, catena.Transitions.load(expected).x_next)


SCRIPT = """
import sys
import catena, drift_walk
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    prior = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
    with MPIPoolExecutor() as executor:
        catena.simulate(drift_walk.drift_step, prior, executor=executor, workers=4, path=sys.argv[1],
                        proposal=catena.proposals.Box(-5, 5), budget=5000, seed=1, show_progress_bars=False)
"""


@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or shutil.which("mpirun") is None, reason="mpi4py or mpirun is not installed"
)
@pytest.mark.parametrize("ranks", [2, 3])
def test_mpi_gives_the_data_of_one_process(ranks, expected, tmp_path):
    (tmp_path / "run.py").write_text(SCRIPT)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    path = os.pathsep.join([str(pathlib.Path(catena.__file__).parents[1]), str(pathlib.Path(drift_walk.__file__).parent)])
    result = subprocess.run(
        ["mpirun", "-n", str(ranks), sys.executable, "-m", "mpi4py.futures", tmp_path / "run.py", tmp_path / "set.nc"],
        env=os.environ | root | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "set.nc").read_bytes() == expected.read_bytes()
