"""What needs devices, on two simulated ones: the processes of these tests find a library in the place of
CUDA's driver. It keeps memory and order, and computes nothing."""

import json
import os
import subprocess
import sys

import core_gpu
import pytest
from core_gpu.workers import WorkerPool


def in_process(script):
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert said.returncode == 0, said.stderr
    return said.stdout


def test_devices_are_found_and_opened():
    names = [device.name for device in core_gpu.devices()]
    assert names[:2] == ["cuda:0", "cuda:1"]
    assert core_gpu.is_gpu_available()
    with core_gpu.open_best() as gpu:
        assert gpu.is_gpu and gpu.device.platform == "cuda"
        buffer = gpu.upload(b"there and back")
        assert bytes(buffer.download()) == b"there and back"
        statistics = gpu.pool_statistics()
        assert statistics["bytes_in_use"] >= len(b"there and back")
        del buffer
        gpu.synchronize()
        assert gpu.trim() > 0


def test_other_libraries_are_told_where_the_memory_is():
    with core_gpu.Gpu.open("cuda:1") as gpu:
        buffer = gpu.allocate([2, 3], "float16")
        interface = buffer.__cuda_array_interface__
        address, read_only = interface.pop("data")
        assert address % 256 == 0 and read_only is False
        assert interface == {
            "shape": (2, 3),
            "typestr": "<f2",
            "strides": None,
            "stream": None,
            "version": 3,
        }
        assert buffer.__dlpack_device__() == (2, 1)
        capsule = buffer.__dlpack__(stream=1, max_version=(1, 1))
        del capsule
        assert core_gpu.dlpack_exports() == 0
        with pytest.raises(BufferError):
            buffer.__dlpack__(dl_device=(1, 0))
        del buffer


def test_a_registry_counts_pipelines_and_settles_plans():
    script = """
import core_gpu, json
status = core_gpu.initialize_registry()
assert [device["name"] for device in status["devices"]] == ["cuda:0", "cuda:1"], status
with core_gpu.acquire_any():
    assert sum(device["active"] for device in core_gpu.registry_status()["devices"]) == 1
step = {"name": "s", "input": "cupy", "output": "cupy", "bytes": 4096, "libraries": ["cupy"]}
plan = {"name": "p", "steps": [step]}
try:
    core_gpu.assign(plan)
except core_gpu.GpuError as error:
    assert "cupy" in str(error)
first, second = core_gpu.devices()[:2]
core_gpu.quarantine(first, "it overheats")
print(json.dumps(core_gpu.assign(plan, libraries=["cupy"])))
for wrong in ({"policy": "best"}, {"libraries": []}):
    try:
        core_gpu.assign(plan, **wrong)
        raise SystemExit("not refused")
    except core_gpu.GpuError:
        pass
core_gpu.quarantine(second, "it as well")
try:
    core_gpu.acquire_any()
except core_gpu.BusyError as error:
    assert "overheats" in str(error), error
core_gpu.readmit(first)
core_gpu.acquire_any().release()
"""
    assignment = json.loads(in_process(script))
    assert assignment["plan"] == "p" and assignment["steps"] == ["s"]
    assert assignment["device"]["name"] == "cuda:1"


def test_workers_have_a_device_each(tmp_path):
    strategy = core_gpu.auto_select_strategy("multi_gpu")
    with WorkerPool("device_tasks", strategy=strategy) as pool:
        assert pool.workers == 2
        jobs = [pool.submit("where", tmp_path, 2, deadline_seconds=60) for _ in range(2)]
        found = {job.result() for job in jobs}
        assert all(names == ("cuda:0",) for _, names in found)
        assert len({visible for visible, _ in found}) == 2
    strategy.cleanup()


def test_pools_are_allocators_of_other_libraries():
    from core_gpu import allocators

    with core_gpu.Gpu.open("cuda:0", claim_bytes=1 << 20) as gpu:
        with pytest.raises(core_gpu.OutOfMemoryError):
            allocators.allocate(16, 0)
        gpu._serve()
        first, second = allocators.allocate(1000, 0), allocators.allocate(0x4000, 0, 1)
        assert first % 256 == 0 and second % 256 == 0 and first != second
        assert core_gpu.allocator_held() == (2, 1000 + 0x4000)
        assert gpu.pool_statistics()["bytes_in_use"] >= 1000 + 0x4000
        # More than the pool may have; the thread's own stream; another device; no length.
        for nbytes, device, stream in ((1 << 21, 0, 0), (16, 0, 2), (16, 1, 0), (-1, 0, 0)):
            with pytest.raises(core_gpu.OutOfMemoryError):
                allocators.allocate(nbytes, device, stream)
        allocators.free(first)
        allocators.free(first)
        allocators.free(12345)
        assert core_gpu.allocator_held() == (1, 0x4000)
        allocators.free(second)
        assert core_gpu.allocator_held() == (0, 0)
    with core_gpu.Gpu.open("cpu") as processor, pytest.raises(core_gpu.SettingError):
        processor._serve()


# A library that is not ours, as ctypes calls it: a stream of its own, on the context of an open device.
FOREIGN = """
import core_gpu, ctypes, threading
cuda = ctypes.CDLL("libcuda.so.1")
cuda.gpu_sim_calls.restype = ctypes.c_uint64
cuda.gpu_sim_plan.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_int]
cuda.cuMemsetD8Async.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
def check(code):
    assert code == 0, code
def stream():
    made = ctypes.c_void_p()
    check(cuda.cuStreamCreate(ctypes.byref(made), 1))
    return made
def calls(function):
    return cuda.gpu_sim_calls(function)
gpu = core_gpu.Gpu.open("cuda:0")
context = ctypes.c_void_p()
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
"""


def test_a_capsule_may_go_while_an_exception_is_pending():
    script = """
import core_gpu
class Expected(Exception):
    pass
def raises():
    raise Expected
for name in ("cpu", "cuda:0"):
    with core_gpu.Gpu.open(name) as gpu:
        buffer = gpu.allocate([4])
        for version in (None, (1, 0)):
            try:
                print(buffer.__dlpack__(max_version=version), raises())
            except Expected:
                pass
            else:
                raise AssertionError("no exception")
        assert core_gpu.dlpack_exports() == 0
        del buffer
"""
    in_process(script)


def test_a_consumer_that_refuses_a_device_says_so():
    numpy = pytest.importorskip("numpy")
    with core_gpu.Gpu.open("cuda:0") as gpu:
        buffer = gpu.allocate([4])
        with pytest.raises((BufferError, RuntimeError, ValueError)):
            numpy.from_dlpack(buffer)
        assert core_gpu.dlpack_exports() == 0
        del buffer


def test_a_shape_that_dlpack_cannot_tell_is_refused():
    with core_gpu.Gpu.open("cpu") as gpu:
        for shape in ([0, 2**63], [0, 2**62, 4]):
            buffer = gpu.allocate(shape, "uint8")
            with pytest.raises(BufferError):
                buffer.__dlpack__()
            del buffer
        assert core_gpu.dlpack_exports() == 0


def test_shared_memory_waits_for_its_consumer_and_breaks_no_capture():
    script = (
        FOREIGN
        + """
theirs, captured = stream(), stream()
buffer = gpu.allocate([4096], "uint8")
address = buffer.__cuda_array_interface__["data"][0]
check(cuda.cuMemsetD8Async(address, 1, 4096, theirs))
check(cuda.cuStreamBeginCapture_v2(captured, 2))
del buffer
graph = ctypes.c_void_p()
check(cuda.cuStreamEndCapture(captured, ctypes.byref(graph)))
check(cuda.cuGraphDestroy(graph))
again = gpu.upload(bytes(4096))
assert bytes(again.download()) == bytes(4096)
del again
for one in (theirs, captured):
    check(cuda.cuStreamDestroy_v2(one))
gpu.close()
del gpu
check(cuda.gpu_sim_verify())
"""
    )
    in_process(script)


def test_memory_goes_while_work_on_the_device_wants_the_interpreter():
    script = (
        FOREIGN
        + """
buffer = gpu.allocate([4096], "uint8")
assert buffer.__cuda_array_interface__
number = calls(b"cuCtxSynchronize") + 1
check(cuda.gpu_sim_plan(b"cuCtxSynchronize", number, 3, 0))
del buffer
trims = threading.Thread(target=gpu.trim)
trims.start()
while calls(b"cuCtxSynchronize") < number:
    pass
cuda.gpu_sim_release_hangs()
trims.join()
buffer = gpu.upload(bytes(4096))
number = calls(b"cuStreamSynchronize") + 1
check(cuda.gpu_sim_plan(b"cuStreamSynchronize", number, 3, 0))
downloads = threading.Thread(target=buffer.download)
downloads.start()
while calls(b"cuStreamSynchronize") < number:
    pass
cuda.gpu_sim_release_hangs()
downloads.join()
"""
    )
    in_process(script)


def test_an_allocator_hears_of_other_streams():
    script = (
        FOREIGN
        + """
from core_gpu import allocators
gpu._serve()
first, second = stream(), stream()
# Without it the first stream would be forgotten with each block.
kept = allocators.allocate(4096, 0, first.value)
for told in (True, False):
    address = allocators.allocate(4096, 0, first.value)
    check(cuda.cuMemsetD8Async(address, 1, 4096, second))
    if told:
        allocators.record_stream(address, second.value)
    else:
        allocators.record_stream(address + 1, second.value)
        check(cuda.cuStreamSynchronize(second))
    allocators.free(address)
    again = allocators.allocate(4096, 0, first.value)
    assert (again == address) != told
    check(cuda.cuMemsetD8Async(again, 2, 4096, first))
    check(cuda.cuStreamSynchronize(first))
    check(cuda.cuStreamSynchronize(second))
    allocators.free(again)
allocators.free(kept)
# A stream that cannot be named: the device is waited for.
address = allocators.allocate(4096, 0, first.value)
allocators.record_stream(address, 2)
before = calls(b"cuCtxSynchronize")
allocators.free(address)
assert calls(b"cuCtxSynchronize") == before + 1
gpu.close()
for one in (first, second):
    check(cuda.cuStreamDestroy_v2(one))
del gpu
check(cuda.gpu_sim_verify())
"""
    )
    in_process(script)


def test_cupys_memory_keeps_the_stream_that_it_was_made_on(tmp_path):
    (tmp_path / "cupy.py").write_text(
        """
import ctypes
from types import SimpleNamespace

library = ctypes.CDLL("libcuda.so.1")
order = []


class Stream:
    def __init__(self):
        made = ctypes.c_void_p()
        assert library.cuStreamCreate(ctypes.byref(made), 1) == 0
        self.ptr = made.value

    def __del__(self):
        order.append("destroyed")
        assert library.cuStreamDestroy_v2(ctypes.c_void_p(self.ptr)) == 0


current = []


class Functions:
    def __init__(self, take, give):
        self.take, self.give = take, give
        self.malloc = None


made = []
cuda = SimpleNamespace(
    get_current_stream=lambda: current[-1],
    PythonFunctionAllocator=lambda take, give: made.append(Functions(take, give)) or made[-1],
    set_allocator=lambda malloc: None,
)
"""
    )
    script = (
        FOREIGN
        + f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import cupy
from core_gpu import allocators
allocators.use_in_cupy(gpu)
cupy.current.append(cupy.Stream())
address = cupy.made[0].take(4096, 0)
cupy.current.pop()
assert cupy.order == [], "an array's memory keeps its stream"
cupy.made[0].give(address, 0)
assert cupy.order == ["destroyed"]
"""
    )
    in_process(script)
