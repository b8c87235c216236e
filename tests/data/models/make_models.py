"""Writes the model files of this version, with numbers that they must give in every later one.

Run once for a released version, from the root of the repository, and keep the folder:

    PYTHONPATH=build/python .venv/bin/python tests/data/models/make_models.py

python/tests/test_old_models.py loads every folder here. 0.1.0/fnse_separable was added later, by the program of 0.1.0: its fnse.safetensors
holds what is the method fnbe now.

    catena simulate lotka_volterra --budget 2000 --seed 1 -o t.nc
    catena train t.nc --method fnse --network separable --width 12 --terms 8 --ensemble 1 --steps 60 --seed 4 -o fnse_separable.safetensors
    catena observe lotka_volterra --transitions 5 --seed 2 -o s.csv
    catena sample fnse_separable.safetensors --observation s.csv -n 200 --seed 5 -o p.nc

So were the methods of whole series, which came after 0.1.0, by naming them: make_models.py npe npe_windows nse, and later
make_models.py npe_summary nle_summary

Models are small on purpose: what is tested is that files stay
readable, not that posteriors are good.
"""

import json
import pathlib
import sys

import catena
import numpy as np

QUIET = {"show_progress_bars": False}
SMALL = {"width": 12}
FLOW = {"summaries": 8, "flow_width": 12, "flow_layers": 2, "bins": 4, "decay": 0.1}
SMALL_SERIES = {
    "npe": FLOW,
    "npe_windows": FLOW,
    "npe_summary": {**FLOW, "summary": "sliced", "summary_epochs": 10},
    "nle_summary": {"units": 8, "flow_width": 12, "flow_layers": 2, "decay": 0.1, "summary_epochs": 10},
    "nse": {"summaries": 8, "width": 12, "decay": 0.1},
}


def main(chosen: list[str]) -> None:
    folder = pathlib.Path(__file__).parent / catena.__version__
    folder.mkdir(exist_ok=True)
    task = catena.tasks.get("lotka_volterra")
    data = task.simulate(budget=2000, seed=1, **QUIET)
    observation = task.observe(5, seed=2)
    thetas = task.prior.sample((4,), seed=3)
    series = task.simulate(series=5, budget=2000, seed=1, **QUIET)
    for method, estimator in catena.METHODS.items():
        if chosen and method not in chosen:
            continue
        whole = issubclass(estimator, catena.estimators.SeriesEstimator)
        fresh = estimator(**(SMALL_SERIES[method] if whole else SMALL)).append_simulations(series if whole else data)
        trained = fresh.train(steps=60, seed=4, **QUIET)
        trained.save(folder / f"{method}.safetensors")
        posterior = trained.build_posterior()
        draws = posterior.sample((200,), x=observation, seed=5, **QUIET)
        record = {
            "series": observation.series.tolist(),
            "parameters": posterior.prior.names,
            "state_names": posterior.state_names,
            "mean": draws.mean(axis=0).tolist(),
            "deviation": draws.std(axis=0).tolist(),
        }
        if method in ("fnle", "fnre", "npe", "npe_windows", "npe_summary", "nle_summary"):
            record["theta"] = thetas.tolist()
            record["log_prob"] = posterior.log_prob(thetas, x=observation).tolist()
        (folder / f"{method}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        size = (folder / f"{method}.safetensors").stat().st_size
        print(f"{folder / method}.safetensors: {size} bytes, means {np.round(draws.mean(axis=0), 3)}")


if __name__ == "__main__":
    main(sys.argv[1:])
