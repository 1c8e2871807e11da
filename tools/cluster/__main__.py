"""`python -m tools.cluster [RUNS]`: CPU time and bytes of a run, on threads and on a cluster."""

import pickle
import sys
import tempfile
import time
from pathlib import Path

from tidegate.grid import axes, plan
from tidegate.grid.execute import execute
from tidegate.grid.executor import Executor
from tidegate.grid.grid_folder import GridFolder
from tidegate.grid.grid_result import GridResult
from tidegate.results.run_output import RunOutput, Wanted
from tidegate.results.simulate import simulate
from tidegate.scenario.document import read

SHORT = """
name     = "short"
duration = "2s"
[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "20ms", buffer = "40packets" }
[port.bottleneck]
gate = { law = "close-probe", alpha_min = 5 }
[traffic.web]
arrivals = { poisson = "20/s" }
size     = { pareto = { mean = "10kB", shape = 1.5 } }
"""
AXIS = "traffic.web.arrivals.poisson=10/s,20/s,30/s,40/s"
WORKERS = 2


def main(runs: int) -> None:
    """Print the cost of one of many short runs, with and without its files."""
    spans = [axes.given(AXIS)]
    planned = plan.sweep(read(SHORT), plan.Controls(), axes=spans, seeds=runs // 4)
    start = time.process_time()
    outcomes = [simulate(planned.scenarios[1], seed) for seed in range(100)]
    print(f"simulation: {(time.process_time() - start) * 10:.2f} ms of CPU time a run")
    start = time.process_time()
    answers = [RunOutput.of(outcome, Wanted(tables=False)) for outcome in outcomes]
    print(f"its summary: {(time.process_time() - start) * 10:.2f} ms")
    answer = pickle.dumps(answers[0])
    print(f"what a worker sends back: {len(answer)} B a run")
    for dask in (None, f"local:{WORKERS}"):
        for kept in (False, True):
            _measured(planned, dask, runs, kept=kept)


def _measured(planned: plan.Plan, dask: str | None, runs: int, *, kept: bool) -> None:
    """Make all runs once, and print what each took here, and on the workers."""
    with tempfile.TemporaryDirectory() as temporary, Executor(WORKERS, dask) as executor:
        folder = GridFolder(Path(temporary) / "runs", planned, keep_flows=False) if kept else None
        before, start = _far(executor), time.process_time()
        execute(planned, GridResult, folder, executor)
        here, far = time.process_time() - start, _far(executor) - before
        where = f"{dask or 'threads'}, {'kept' if kept else 'not kept'}"
        print(f"{where}: {here / runs * 1e3:.2f} ms here, {far / runs * 1e3:.2f} ms on workers")
        if folder is not None:
            files = [path for path in (folder.target / "runs").rglob("*") if path.is_file()]
            size = sum(path.stat().st_size for path in files)
            print(f"  {size / runs:.0f} B in {len(files) / runs:.0f} files a run")
            folder.close()


def _far(executor: Executor) -> float:
    """Return the CPU time of the workers of a cluster so far."""
    cluster = executor.joined()
    return sum(cluster.client.run(time.process_time).values()) if cluster is not None else 0.0


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
