"""How tests start the program on ranks: mpirun, as root and on fewer cores than ranks."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not installed (openmpi-bin)")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def environment(**more):
    return {**os.environ, **AS_ROOT, **more}


def on_ranks(count, *command):
    """The command on so many ranks; 0: without mpirun."""
    return [*(["mpirun", "-n", str(count)] if count else []), *map(str, command)]


def start(count, *command, **options):
    return subprocess.Popen(
        on_ranks(count, *command), env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True, **options,
    )  # fmt: skip


def run(count, *command, seconds=120):
    return subprocess.run(
        on_ranks(count, *command), env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
    )


def succeed(count, *command, seconds=120):
    result = run(count, *command, seconds=seconds)
    assert result.returncode == 0, result.stderr
    return result


def processes(launcher):
    """The ranks that this mpirun has started, by their ids, as far as they run our program by now."""
    found = []
    for task in pathlib.Path(f"/proc/{launcher.pid}/task").glob("*/children"):
        try:
            found += [int(pid) for pid in task.read_text().split()]
        except OSError:
            pass
    return sorted(found)


def wait_for_ranks(launcher, count, seconds=20):
    until = time.monotonic() + seconds
    while len(processes(launcher)) < count:
        assert launcher.poll() is None and time.monotonic() < until, "the ranks did not start"
        time.sleep(0.01)
    return processes(launcher)


def end(launcher):
    """Ends an mpirun that a failed test has left, and what it started."""
    if launcher.poll() is None:
        os.killpg(launcher.pid, signal.SIGKILL)
        launcher.communicate()
