"""Pools of worker processes: values, arrays, failures, and what is left behind."""

import os

import core_gpu
import pytest
from core_gpu.workers import WorkerPool

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = pytest.mark.skipif(numpy is None, reason="skipped: no NumPy")


@pytest.fixture(scope="module")
def pool():
    with WorkerPool("worker_tasks", workers=2) as pool:
        yield pool
        assert os.listdir(pool._folder) == []
    assert not os.path.exists(pool._folder)


def test_values_there_and_back(pool):
    assert pool.workers == 2
    assert list(pool.map("doubled", range(20))) == list(range(0, 40, 2))
    answer = pool.submit("several", "a", "b").result()
    assert answer["sum"] == "ab" and answer["process"] in pool.processes


@needs_numpy
def test_arrays_lie_in_shared_memory(pool):
    large = numpy.arange(1 << 20, dtype="float32").reshape(1024, 1024)
    job = pool.submit("added_in_place", large, 1)
    answer = job.result()
    assert numpy.array_equal(answer, large + 1)
    assert job.result() is answer
    # It is the caller's: it can be written, and outlives the file.
    answer[0, 0] = 5
    assert answer.flags.writeable and not os.listdir(pool._folder)
    answer = pool.submit("several", large, numpy.ones((3, 0), "int8").sum()).result()
    assert answer["sum"].shape == (1024, 1024)
    for array in pool.map("doubled", (numpy.full(size, 3) for size in (0, 1, 1000, 100000))):
        assert (array == 6).all()


@pytest.mark.parametrize(
    "task, arguments, said",
    [
        ("fails", ("on purpose",), "ValueError: on purpose"),
        ("unknown", (), "unknown"),
        ("unsendable", (), "lambda"),
        ("doubled", (1, 2, 3), "TypeError"),
        ("dies", (), "SIGKILL|signal"),
    ],
)
def test_what_goes_wrong_costs_one_task(pool, task, arguments, said):
    with pytest.raises(core_gpu.FailedError, match=said):
        pool.submit(task, *arguments).result()
    assert pool.submit("doubled", 21).result() == 42


def test_a_task_ends_at_its_deadline(pool):
    with pytest.raises(core_gpu.FailedError):
        pool.submit("hangs", deadline_seconds=0.3).result()
    assert pool.submit("doubled", "a").result() == "aa"


def test_a_task_is_cancelled(pool):
    job = pool.submit("hangs")
    job.cancel()
    with pytest.raises(core_gpu.FailedError):
        job.result()


def test_what_cannot_be_sent_leaves_nothing(pool):
    with pytest.raises(Exception, match="pickle|lambda"):
        pool.submit("doubled", lambda: None)
    assert os.listdir(pool._folder) == []


def test_pools_of_a_strategy(monkeypatch):
    monkeypatch.setenv("GPU_BACKEND", "cpu")
    strategy = core_gpu.auto_select_strategy(cpu_workers=2)
    with WorkerPool("worker_tasks", strategy=strategy, variables={"A_SETTING": "1"}) as pool:
        assert pool.workers == 2
        assert pool.submit("variable", "A_SETTING").result() == "1"
    strategy.cleanup()


def test_pools_that_cannot_be(tmp_path):
    with pytest.raises(core_gpu.SettingError):
        WorkerPool("worker_tasks")
    with WorkerPool("no_such_module", workers=1) as pool:
        with pytest.raises(core_gpu.FailedError):
            pool.submit("doubled", 1).result()
    pool.close()
    with pytest.raises(core_gpu.SettingError, match="closed"):
        pool.submit("doubled", 1)
