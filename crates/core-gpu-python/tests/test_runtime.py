"""What the package promises on a machine without a GPU; NumPy's parts are skipped without NumPy."""

import array
import ctypes
import gc
import os
import subprocess
import sys

import core_gpu
import pytest

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = pytest.mark.skipif(numpy is None, reason="skipped: no NumPy")


@pytest.fixture(autouse=True)
def processor_alone(monkeypatch):
    monkeypatch.setenv("GPU_BACKEND", "cpu")


@pytest.fixture
def gpu():
    with core_gpu.Gpu.open("cpu") as gpu:
        yield gpu


def test_detection_has_reasons():
    found = core_gpu.detect()
    assert found.devices[-1].name.startswith("cpu")
    assert all(why for why in found.unavailable.values())
    assert found.to_dict()["recommended_device"] == found.recommended
    assert len(core_gpu.devices()) == len(found.devices)
    assert core_gpu.memory_info()["host"]["total_bytes"] > 0


def test_the_best_device_says_why(gpu):
    with core_gpu.open_best() as best:
        assert best.reason and best.name
        assert best.device in core_gpu.devices()
    assert best.closed
    with pytest.raises(core_gpu.SettingError, match="closed"):
        best.allocate([1])


def test_bytes_there_and_back(gpu):
    values = array.array("d", [1.5, -2.0, 3.25])
    buffer = gpu.upload(values)
    assert (buffer.shape, buffer.dtype, buffer.nbytes, len(buffer)) == ((3,), "float64", 24, 3)
    assert bytes(buffer.download()) == values.tobytes()
    buffer.upload(array.array("d", [7.0, 8.0, 9.0]))
    assert array.array("d", bytes(buffer.download())).tolist() == [7.0, 8.0, 9.0]
    for other in (array.array("d", [1.0]), array.array("f", [1.0, 2.0, 3.0])):
        with pytest.raises(core_gpu.SettingError, match="does not fit"):
            buffer.upload(other)
    del buffer


def test_what_cannot_be_is_refused(gpu):
    with pytest.raises(core_gpu.SettingError, match="known are bool, int8"):
        gpu.allocate([2], "string")
    with pytest.raises(core_gpu.SettingError, match="too large"):
        gpu.allocate([2**40, 2**40], "float64")
    with pytest.raises(core_gpu.AbsentError):
        core_gpu.Gpu.open("cpu:7", fallback="error")
    with pytest.raises(core_gpu.SettingError, match="fallback"):
        core_gpu.Gpu.open("cpu", fallback="gpu")
    with pytest.raises(TypeError):
        gpu.upload(object())
    assert issubclass(core_gpu.AbsentError, core_gpu.GpuError)


def test_a_pool_is_limited_to_what_was_claimed():
    with core_gpu.Gpu.open("cpu", claim_bytes=1 << 20, wait_seconds=0) as gpu:
        with pytest.raises(core_gpu.OutOfMemoryError):
            gpu.allocate([1 << 24], "uint8")


def test_buffers_that_are_left_are_told_when_it_is_closed():
    gpu = core_gpu.Gpu.open("cpu")
    kept = gpu.upload(b"kept")
    with pytest.raises(core_gpu.FailedError):
        gpu.close()
    assert bytes(kept.download()) == b"kept"


@needs_numpy
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"])
def test_arrays_of_numpy(gpu, dtype):
    values = numpy.arange(24).reshape(2, 3, 4).astype(dtype)
    buffer = gpu.upload(values)
    assert buffer.dtype == dtype and buffer.shape == (2, 3, 4)
    assert numpy.array_equal(buffer.to_numpy(), values)
    assert numpy.array_equal(numpy.asarray(buffer), values)
    # In its own order, whatever it was on the host.
    turned = gpu.upload(values.T)
    assert numpy.array_equal(turned.to_numpy(), values.T)
    assert numpy.asarray(buffer, dtype="complex128").dtype == "complex128"


@needs_numpy
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1)])
def test_shapes_at_the_edge(gpu, shape):
    values = numpy.ones(shape, "int16")
    buffer = gpu.upload(values)
    assert buffer.shape == shape
    assert numpy.array_equal(buffer.to_numpy(), values)
    assert numpy.from_dlpack(buffer).shape == shape


@needs_numpy
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "complex128", "bool"])
def test_dlpack_shares_the_memory(gpu, dtype):
    values = numpy.arange(12).reshape(3, 4).astype(dtype)
    buffer = gpu.upload(values)
    assert buffer.__dlpack_device__() == (1, 0)
    before = core_gpu.dlpack_exports()
    try:
        seen = numpy.from_dlpack(buffer)
    except RuntimeError as error:
        # What it does not take leaves nothing behind.
        old = dtype == "bool" and numpy.__version__.startswith("1.") and "dtype" in str(error)
        del buffer, error
        gc.collect()
        assert old and core_gpu.dlpack_exports() == before
        pytest.skip("this NumPy takes no bool by DLPack")
    assert core_gpu.dlpack_exports() == before + 1
    assert seen.dtype == dtype and numpy.array_equal(seen, values)
    # One memory: what the buffer is given is seen at once.
    buffer.upload(numpy.zeros((3, 4), dtype))
    assert not seen.any()
    # The memory outlives the buffer, as long as the array is there.
    del buffer
    gc.collect()
    assert not seen.any()
    del seen
    gc.collect()
    assert core_gpu.dlpack_exports() == before


def test_capsules_that_nobody_takes_leave_nothing(gpu):
    before = core_gpu.dlpack_exports()
    buffer = gpu.upload(b"1234")
    for version in (None, (1, 0)):
        capsule = buffer.__dlpack__(max_version=version)
        name = ctypes.pythonapi.PyCapsule_GetName
        name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        assert name(capsule) == (b"dltensor_versioned" if version else b"dltensor")
        assert core_gpu.dlpack_exports() == before + 1
        del capsule
        gc.collect()
        assert core_gpu.dlpack_exports() == before
    for arguments in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            buffer.__dlpack__(**arguments)
    assert not hasattr(buffer, "__cuda_array_interface__")
    del buffer


def test_exports_end_with_the_interpreter():
    script = (
        "import core_gpu\n"
        "gpu = core_gpu.Gpu.open('cpu')\n"
        "kept = gpu.upload(b'1234').__dlpack__()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ)


def test_slots_are_shared_by_processes(tmp_path):
    device = core_gpu.devices()[-1]
    shared = {"directory": tmp_path, "wait_seconds": 0}
    with core_gpu.acquire_slot(device, 1, **shared) as slot:
        assert slot.number == 0 and slot.held
        slot.note_use(0.5)
        script = (
            "import core_gpu, sys\n"
            "try: core_gpu.acquire_slot(core_gpu.devices()[-1], 1, directory=sys.argv[1], wait_seconds=0)\n"
            "except core_gpu.BusyError as error: print('busy')\n"
        )
        command = [sys.executable, "-c", script, str(tmp_path)]
        said = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
        assert said.stdout == "busy\n"
        [holder] = core_gpu.slot_holders(device, directory=tmp_path)
        assert holder["slot"] == 0 and holder["process"] == os.getpid()
    assert not slot.held
    core_gpu.acquire_slot(device, 1, **shared).release()
    with core_gpu.acquire_slot(device, 2, claim_bytes=70, budget_bytes=100, **{**shared, "directory": tmp_path / "b"}):
        with pytest.raises(core_gpu.BusyError):
            core_gpu.acquire_slot(device, 2, claim_bytes=40, budget_bytes=100, **{**shared, "directory": tmp_path / "b"})


def test_a_registry_of_no_device_counts_on_the_processor():
    script = (
        "import core_gpu\n"
        "try: core_gpu.registry_status()\n"
        "except core_gpu.SettingError: pass\n"
        "assert core_gpu.initialize_registry()['devices'] == []\n"
        "with core_gpu.acquire_any() as slot: assert slot.held\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ)


def test_strategies():
    strategy = core_gpu.auto_select_strategy(cpu_workers=3)
    strategy.initialize()
    assert strategy.num_workers == 3
    assert strategy.device_for_worker(0)["device"].startswith("cpu")
    with pytest.raises(core_gpu.SettingError):
        strategy.device_for_worker(3)
    strategy.cleanup()
    with pytest.raises(core_gpu.SettingError):
        core_gpu.auto_select_strategy("no_such_strategy")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="skipped: no fork")
def test_a_forked_child_gives_nothing_back_that_its_parent_holds(tmp_path):
    script = f"""
import core_gpu, os
device = core_gpu.devices()[0]
claim = dict(claim_bytes=600, budget_bytes=1000, directory={str(tmp_path)!r}, wait_seconds=0)
slot = core_gpu.acquire_slot(device, 2, **claim)
child = os.fork()
if child == 0:
    slot.release()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
try:
    core_gpu.acquire_slot(device, 2, **claim)
except core_gpu.BusyError:
    pass
else:
    raise AssertionError("its bytes were given to somebody else")
slot.release()
core_gpu.acquire_slot(device, 2, **claim).release()
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
