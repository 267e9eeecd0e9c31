"""Many independent computations: in this process, in several, or on the workers of a Dask cluster.

``jobs`` is a number of processes, or the address of a Dask scheduler (``"tcp://host:8786"``, from ``consilience[cluster]``). Results are
the same whichever it is: every task has its own seed, and what a worker computes it sends back; only this process writes files. A worker
whose code is not this program's is refused, since its results would be somebody else's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from warnings import catch_warnings, simplefilter

from threadpoolctl import ThreadpoolController

from consilience.errors import MissingPackageError, OptionError
from consilience.options import check_whole

__all__ = ["Jobs", "check_jobs", "environment_of_own", "gathered", "on_cluster", "one_thread", "spread"]

Jobs = int | str
"""How many processes, or where a Dask scheduler is."""
T = TypeVar("T")
SCHEMES = ("tcp", "tls", "ws", "wss")
CONNECT_SECONDS = 10
RETRIES = 3
"""How often a task is begun again elsewhere when its worker is gone."""
AHEAD = 4
"""Tasks handed to a cluster for each of its threads before the first is done: enough to keep it busy, few enough to be called back."""

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS")
"""There are as many processes as shall use processors: none needs threads of its own for that."""


def environment_of_own() -> dict[str, str]:
    """For a process of ours: this one's environment without settings and passwords of a server or site, of which it needs none."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONSILIENCE_")}
    return {**dict.fromkeys(ONE_THREAD, "1"), **kept}


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """While models are fitted: designs are narrow, and one BLAS thread is faster than several that wait for each other. It also rounds
    otherwise than two, of long columns: what one process computes is what any other does.
    """
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


def check_jobs(jobs: object) -> Jobs:
    """Return ``jobs`` if it is a number of processes or an address, else raise :class:`OptionError`.

    >>> check_jobs(2), check_jobs("tcp://10.0.0.5:8786")
    (2, 'tcp://10.0.0.5:8786')
    """
    if not isinstance(jobs, str):
        return check_whole("jobs", jobs, least=1)
    parts = urlsplit(jobs)
    if parts.scheme not in SCHEMES or not parts.netloc:
        raise OptionError(
            f"jobs must be a number of processes or the address of a Dask scheduler such as 'tcp://10.0.0.5:8786'; got {jobs!r}."
        )
    return jobs


def spread(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]], jobs: Jobs, *, batch: int = 1) -> Iterator[tuple[int, T]]:
    """The place of a task and what ``function`` makes of it, as they are finished.

    Parameters
    ----------
    function : callable
        Of a module, so that other processes find it.
    tasks : sequence of tuple
        Its arguments, for each task.
    jobs : int or str
        Processes, or the address of a Dask scheduler.
    batch : int, default 1
        Tasks that travel together, for short ones.

    Yields
    ------
    int, object
        The order is that of finishing.

    Examples
    --------
    >>> sorted(spread(pow, [(2, 3), (3, 2)], 1))
    [(0, 8), (1, 9)]
    """
    jobs = check_jobs(jobs)
    if jobs == 1:
        for place, task in enumerate(tasks):
            yield place, function(*task)
    elif isinstance(jobs, int):
        from joblib import Parallel, delayed  # noqa: PLC0415  only where several processes are asked for

        calls = (delayed(_placed)(function, place, task) for place, task in enumerate(tasks))
        found = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=batch)(calls)
        try:
            for one in found:  # noqa: UP028  "yield from" would close it where its warnings are heard
                yield one
        finally:
            with catch_warnings():  # whoever leaves early wants no more of it, and joblib warns of what is called off
                simplefilter("ignore")
                found.close()
    else:
        yield from _spread_on_cluster(function, tasks, jobs, batch)


def gathered(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]], jobs: Jobs, *, batch: int = 1) -> list[T]:
    """What ``function`` makes of each task, in their order. Arguments are those of :func:`spread`.

    >>> gathered(pow, [(2, 3), (3, 2)], 1)
    [8, 9]
    """
    found = dict(spread(function, tasks, jobs, batch=batch))
    return [found[place] for place in range(len(tasks))]


@contextmanager
def on_cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """A cluster as an executor, and how many tasks it does at once. Tasks that are under way when one leaves are called off.

    The executor's tasks are of modules that workers have; :func:`spread` looks whether they have the same.
    """
    if find_spec("distributed") is None:
        raise MissingPackageError("Work on a Dask cluster needs the package 'distributed': pip install 'consilience[cluster]'.")
    try:
        client = import_module("distributed").Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OptionError(
            f"No Dask scheduler answers at {address!r} ({error}). Start one with `dask scheduler`, workers with "
            f"`dask worker {address} --nthreads 1`, or give jobs a number."
        ) from None
    executor = client.get_executor(pure=False, retries=RETRIES)
    try:
        _check_workers(client, address)
        yield executor, sum(client.nthreads().values())
    finally:
        executor.shutdown(wait=False)
        client.close()


@cache
def code_of_package() -> str:
    """A digest of all code and data of this package, as this process has it.

    >>> len(code_of_package())
    64
    """
    folder, total = Path(__file__).parent, sha256()
    for file in sorted(path for path in folder.rglob("*") if path.suffix in (".lp", ".py", ".toml")):
        total.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def _check_workers(client: Any, address: str) -> None:
    """There are some, with the code of this program."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise OptionError(
            f"The Dask scheduler at {address!r} has no workers. Start some with `dask worker {address} --nthreads 1`."
        ) from None
    for worker, code in client.run(code_of_package).items():
        if code != code_of_package():
            raise OptionError(
                f"Every worker must have the code of this program, or results would not be the same; {worker} has another. "
                f"Install the same version of consilience there, and start the worker again."
            )


def _spread_on_cluster(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]], address: str, batch: int) -> Iterator[tuple[int, T]]:
    from concurrent.futures import FIRST_COMPLETED, wait  # noqa: PLC0415  only where a cluster is asked for

    numbered = list(enumerate(tasks))
    left = iter([numbered[start : start + batch] for start in range(0, len(numbered), batch)])
    with on_cluster(address) as (executor, width):
        waiting = {executor.submit(_several, function, part, code_of_package()) for part in _first(left, AHEAD * width)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for one in done:
                yield from one.result()
            waiting |= {executor.submit(_several, function, part, code_of_package()) for part in _first(left, len(done))}


def _first(of: Iterator[T], count: int) -> list[T]:
    return [one for _, one in zip(range(count), of, strict=False)]


def _placed(function: Callable[..., T], place: int, task: tuple[Any, ...]) -> tuple[int, T]:
    return place, function(*task)


def _several(function: Callable[..., T], part: Sequence[tuple[int, tuple[Any, ...]]], code: str) -> list[tuple[int, T]]:
    """A batch at a worker, which may have come after the others were looked at."""
    if code != code_of_package():
        raise OptionError(f"A worker joined the cluster with other code than this program's ({Path(__file__).parent}).")
    return [(place, function(*task)) for place, task in part]
