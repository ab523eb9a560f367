"""Pools of worker processes: values, arrays, failures, and what is left behind."""

import gc
import os

import core_gpu
import pytest
from core_gpu.workers import WorkerPool

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = pytest.mark.skipif(numpy is None, reason="skipped: no NumPy")


def unaccounted(pool):
    """Bytes of files that do not wait for their next array."""
    gc.collect()
    files = [os.path.join(pool._folder, name) for name in os.listdir(pool._folder)]
    return sum(map(os.path.getsize, files)) - pool._arena.kept_bytes()


@pytest.fixture(scope="module")
def pool():
    with WorkerPool("worker_tasks", workers=2) as pool:
        yield pool
        assert unaccounted(pool) == 0
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
    # It is the caller's: it can be written, and nothing else is put in its place.
    answer[0, 0] = 5
    for _ in range(4):
        pool.submit("added_in_place", large, 2).result()
    assert answer.flags.writeable and answer[0, 0] == 5 and answer[1, 0] == large[1, 0] + 1
    assert unaccounted(pool) == answer.nbytes
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
    assert unaccounted(pool) == 0


@needs_numpy
def test_files_are_used_again(pool):
    large = numpy.ones(1 << 18)
    for _ in range(3):
        assert pool.submit("doubled", large).result().sum() == 1 << 19
    before = set(os.listdir(pool._folder))
    for number in range(20):
        assert pool.submit("doubled", large * number).result().sum() == number << 19
    assert set(os.listdir(pool._folder)) == before


@needs_numpy
def test_what_a_task_keeps_stays_as_it_was():
    with WorkerPool("worker_tasks", workers=1) as pool:
        first = numpy.full(1 << 16, 7)
        assert pool.submit("kept", first).result() == 7
        for number in range(5):
            assert pool.submit("doubled", numpy.full(1 << 16, number)).result()[0] == 2 * number
            assert pool.submit("sum_of_kept").result() == 7 << 16
        assert unaccounted(pool) == 0


@needs_numpy
def test_answers_that_are_kept_stay_as_they_were(pool):
    answers = list(pool.map("doubled", (numpy.full(1 << 16, number) for number in range(12))))
    assert [(answer == 2 * at).all() for at, answer in enumerate(answers)] == [True] * 12
    longer = pool.submit("doubled", numpy.ones(1 << 18)).result()
    assert (longer == 2).all() and (answers[3] == 6).all()


@needs_numpy
def test_failures_leave_no_files(pool):
    large = numpy.ones(1 << 16)
    with pytest.raises(core_gpu.FailedError):
        pool.submit("doubled", large, large).result()
    with pytest.raises(core_gpu.FailedError):
        pool.submit("hangs_with", large, deadline_seconds=0.3).result()
    assert unaccounted(pool) == 0


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


@needs_numpy
def test_a_second_run_is_given_what_the_first_one_was(pool, tmp_path):
    array = numpy.arange(1 << 16, dtype="int64")
    job = pool.submit(
        "doubled_in_place_once_it_lives", array, str(tmp_path / "died"), retry=True
    )
    assert numpy.array_equal(job.result(), array * 2)
