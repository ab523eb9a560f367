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
