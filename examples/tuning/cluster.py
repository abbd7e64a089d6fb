"""Tuning on a Dask cluster, of which one worker is killed in the middle: python examples/tuning/cluster.py.

Two worker processes on this machine stand for two machines; `--folder` tunes a kernel's folder on GPUs 0 and
1 in place of a function that needs none. What the killed worker had begun is done again by the other one, and
the results are in one store beside the script that started the search.
"""

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

from distributed import Client, LocalCluster

import kerneltune

PARAMS = {"block": [16, 32, 64, 128, 256], "unroll": [1, 2, 4, 8]}


def blocked(block, unroll):
    """A model of a kernel's time in milliseconds."""
    time.sleep(0.05)
    return 1 + abs(block - 64) / 64 + abs(unroll - 4) / 8


def tuned(executor, notice, folder, store):
    """Tune the function, or the kernel of a folder on the GPUs 0 and 1."""
    given = {"executor": executor, "tasks": 4, "store": store, "notice": notice, "strategy": "random"}
    if folder is None:
        return kerneltune.tune(blocked, timer="returned", params=PARAMS, **given)
    from kerneltune.sources.folder import read_folder

    read = read_folder(folder)
    described = {name: one for name, one in vars(read.description).items() if name != "source"}
    return kerneltune.tune(
        read.description.source,
        reference=read.reference,
        tolerance=read.tolerance,
        devices=[0, 1],
        evaluations=60,
        **described,
        **given,
    )


def main():
    """Tune, kill a worker after a few results, and count what was lost or done twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    folder = parser.parse_args().folder
    store = Path(tempfile.mkdtemp()) / "results.sqlite"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        client.get_executor() as executor,
    ):
        processes = list(client.run(os.getpid).values())

        def notice(trial, progress):
            if len(progress.trials) == 5:
                os.kill(processes[0], signal.SIGKILL)

        found = tuned(executor, notice, folder, store)
    tried = [tuple(trial.configuration.items()) for trial in found.trials]
    wanted = found.space_size if folder is None else min(60, found.space_size)
    print(f"{len(tried)} of {wanted} configurations, {len(tried) - len(set(tried))} twice")
    print(f"{len(found.failed)} failed; best: {found.best_configuration}")


if __name__ == "__main__":
    main()
