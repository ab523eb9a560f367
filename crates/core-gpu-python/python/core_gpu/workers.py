"""Tasks in processes of their own: a crash or a hang costs the task that ran, and no other.

    # tasks.py
    from core_gpu.worker import task

    @task
    def doubled(array):
        return array * 2

    # main.py
    from core_gpu.workers import WorkerPool

    with WorkerPool("tasks", workers=2) as pool:
        for answer in pool.map("doubled", arrays):
            ...

Arrays travel through shared memory: the sender copies them there, the receiver works on them where they
lie. For systems of the Unix family.
"""

from __future__ import annotations

import collections
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _core_gpu, _messages


class Job:
    """A task that was given to a pool."""

    def __init__(self, running: _core_gpu._Job, path: str | None, folder: str) -> None:
        self._running = running
        self._path = path
        self._folder = folder
        self._answer: tuple[Any] | None = None

    @property
    def done(self) -> bool:
        """Whether the answer is there."""
        return self._answer is not None or self._running.done

    def cancel(self) -> None:
        """Ends it: the worker that runs it is killed and started anew."""
        self._running.cancel()

    def result(self) -> Any:
        """Waits for the answer. Raises `FailedError` where the task raised, was ended or died."""
        if self._answer is None:
            try:
                message = self._running.wait()
            finally:
                _messages.remove(self._path)
            value, path = _messages.read(message, self._folder)
            _messages.remove(path)
            self._answer = (value,)
        return self._answer[0]


class WorkerPool:
    """Worker processes that import `module` and run its tasks.

    `strategy` says how many there are and which device each has; else there are `workers` of them.
    `variables` are set in the environment of each.
    """

    def __init__(
        self,
        module: str,
        workers: int | None = None,
        *,
        strategy: _core_gpu.Strategy | None = None,
        variables: Mapping[str, str] | None = None,
        most_bytes: int | None = None,
    ) -> None:
        if (workers is None) == (strategy is None):
            raise _core_gpu.SettingError("a pool has either a number of workers or a strategy")
        self._folder = _messages.make_folder()
        told = {
            _messages.FOLDER: self._folder,
            # What this process imports, its workers can.
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            **(variables or {}),
        }
        arguments = ["-m", "core_gpu.worker", module]
        set_for_all = list(told.items())
        try:
            if strategy is not None:
                self._pool = strategy._start_workers(
                    sys.executable, arguments, variables=set_for_all, most_bytes=most_bytes
                )
            elif workers is not None:
                self._pool = _core_gpu._WorkerPool(
                    sys.executable, arguments, workers, variables=set_for_all, most_bytes=most_bytes
                )
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    @property
    def workers(self) -> int:
        """How many workers there are."""
        return self._pool.workers

    @property
    def processes(self) -> list[int | None]:
        """The process numbers of those that run now."""
        return self._pool.processes

    def submit(
        self,
        task: str,
        *arguments: object,
        deadline_seconds: float | None = None,
        retry: bool = False,
    ) -> Job:
        """Gives a task, by name, to the next worker that is free.

        After `deadline_seconds` its worker is killed. With `retry` it runs once more where its worker
        died by itself, so that it may run twice.
        """
        message, path = _messages.write(arguments, self._folder)
        try:
            running = self._pool.submit(
                task, message, deadline_seconds=deadline_seconds, retry=retry
            )
        except BaseException:
            _messages.remove(path)
            raise
        return Job(running, path, self._folder)

    def map(
        self,
        task: str,
        values: Iterable[object],
        *,
        deadline_seconds: float | None = None,
        retry: bool = False,
    ) -> Iterator[Any]:
        """The answers for values, in their order; two for each worker are under way at a time."""
        under_way: collections.deque[Job] = collections.deque()
        most = 2 * self.workers
        for value in values:
            job = self.submit(task, value, deadline_seconds=deadline_seconds, retry=retry)
            under_way.append(job)
            if len(under_way) >= most:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

    def close(self) -> None:
        """Waits for what was submitted, and ends the workers. A second call does nothing."""
        self._pool.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
