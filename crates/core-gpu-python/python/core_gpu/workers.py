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
lie. That memory is used again when nobody sees it any more; what an answer lies in is the caller's as long
as the answer is. For systems of the Unix family.
"""

from __future__ import annotations

import collections
import os
import pickle
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _core_gpu, _messages
from ._arena import Arena, Segment, make_folder


class _Files:
    """The files of one task: what it was given, and what it may put its answer in."""

    def __init__(self, arena: Arena, lengths: dict[str, int], task: str) -> None:
        self._arena = arena
        self._lengths = lengths
        self._task = task
        self._given: Segment | None = None
        self._offered: Segment | None = None

    def write(self, arguments: tuple[object, ...]) -> bytes:
        """The message of a task."""
        parts, self._given = _messages.write(arguments, self._arena.lend)
        # The answer is likely to be as long as the last one.
        length = self._lengths.get(self._task, 0)
        offer = None
        if length:
            self._offered = self._arena.lend(length)
            offer = (self._offered.name, self._offered.length)
        return pickle.dumps((parts, offer), protocol=5)

    def read(self, message: bytes) -> Any:
        """The value of an answer."""
        parts, kept = pickle.loads(message)
        segment = self._answered(parts[0])
        self._lengths[self._task] = segment.length if segment else 0
        value, mapping = _messages.read(parts, segment)
        if mapping is not None and segment is not None:
            self._arena.give_back_after(mapping, segment)
        given, self._given = self._given, None
        if given is not None and kept:
            given.remove()
        elif given is not None:
            self._arena.give_back(given)
        return value

    def _answered(self, name: str | None) -> Segment | None:
        offered, self._offered = self._offered, None
        if offered is not None and name == offered.name:
            return offered
        if offered is not None:
            self._arena.give_back(offered)
        return None if name is None else self._arena.adopt(name)

    def forget(self) -> None:
        """Removes them: somebody may still see what is in them."""
        for segment in (self._given, self._offered):
            if segment is not None:
                segment.remove()
        self._given = self._offered = None


class Job:
    """A task that was given to a pool."""

    def __init__(self, running: _core_gpu._Job, files: _Files) -> None:
        self._running = running
        self._files = files
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
                self._answer = (self._files.read(self._running.wait()),)
            finally:
                self._files.forget()
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
        self._folder = make_folder()
        self._arena = Arena(self._folder)
        # How long the last answer of each task was.
        self._lengths: dict[str, int] = {}
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
        files = _Files(self._arena, self._lengths, task)
        try:
            message = files.write(arguments)
            running = self._pool.submit(
                task, message, deadline_seconds=deadline_seconds, retry=retry
            )
        except BaseException:
            files.forget()
            raise
        return Job(running, files)

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
        self._arena.trim()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
