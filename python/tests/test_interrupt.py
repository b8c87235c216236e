"""Ctrl-C ends work in C++ and in Python with KeyboardInterrupt, soon."""

import signal
import time

import pytest

# What a shell starts in the background ignores SIGINT, and so do its children unless they say otherwise.
START = """
import signal, sys, catena, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
data = catena.tasks.get("gaussian_rw").simulate(budget=5000, show_progress_bars=False)
prior = catena.priors.Independent({"a": catena.priors.Normal()})
def step(theta, x):
    return x
def slow(theta, x):
    import time
    time.sleep(0.05)
    return x
print("ready", flush=True)
"""
WORK = {
    "training": "catena.FNLE().append_simulations(data).train(steps=10_000_000, show_progress_bars=False)",
    "simulating": "catena.simulate(step, prior, proposal=catena.proposals.Box(0, 1), budget=2 * 10**9,"
    " path=sys.argv[1], show_progress_bars=False)",
    "workers": "import concurrent.futures as f; catena.simulate(slow, prior, proposal=catena.proposals.Box(0, 1),"
    " budget=10**7, executor=f.ThreadPoolExecutor(2), show_progress_bars=False)",
}


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_stops(work, run_python, tmp_path):
    script = f"{START}\ntry:\n    {WORK[work]}\nexcept KeyboardInterrupt:\n    print('stopped', flush=True)"
    process = run_python(script, tmp_path / "a.nc")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert out == "stopped\n", err
    assert process.returncode == 0
