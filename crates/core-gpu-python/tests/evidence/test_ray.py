"""Ray gives out simulated devices; the runtime in its tasks sees those and no others."""

import os

import pytest

ray = pytest.importorskip("ray")


def seen():
    import core_gpu

    names = [device.name for device in core_gpu.devices() if device.is_gpu]
    identities = [device.to_dict()["info"]["id"] for device in core_gpu.devices() if device.is_gpu]
    with core_gpu.open_best() as gpu:
        buffer = gpu.upload(b"in a task")
        back = bytes(buffer.download())
        del buffer
    return os.environ.get("CUDA_VISIBLE_DEVICES"), names, identities, back


def test_a_task_sees_the_device_that_ray_gives_it():
    # The simulated driver is for the tasks alone, not for Ray's own processes; a busy machine takes its time.
    modules = os.environ["PYTHONPATH"] + os.pathsep + os.path.dirname(__file__)
    simulated = {
        "env_vars": {
            "LD_LIBRARY_PATH": os.environ.pop("LD_LIBRARY_PATH"),
            "PYTHONPATH": modules,
        }
    }
    os.environ["RAY_raylet_start_wait_time_s"] = "180"
    # An actor that names its devices has a processor, too: two are left for tasks.
    ray.init(num_cpus=4, num_gpus=2, include_dashboard=False, logging_level="ERROR")
    try:

        @ray.remote(num_gpus=1, runtime_env=simulated)
        class Holder:
            def see(self):
                return seen()

        holders = [Holder.remote() for _ in range(2)]
        answers = ray.get([holder.see.remote() for holder in holders])
        variables = sorted(answer[0] for answer in answers)
        assert variables == ["0", "1"]
        assert all(answer[1] == ["cuda:0"] and answer[3] == b"in a task" for answer in answers)
        assert answers[0][2] != answers[1][2]

        @ray.remote(runtime_env=simulated)
        def without_a_device():
            import core_gpu

            gpus = [device for device in core_gpu.devices() if device.is_gpu]
            return os.environ.get("CUDA_VISIBLE_DEVICES"), len(gpus)

        variable, count = ray.get(without_a_device.remote(), timeout=120)
        # Ray hides the devices from such a task, unless it was told not to: the runtime follows.
        assert count == (0 if variable == "" else 2)

        print("Ray: two actors with a device each see one, and not the same;")
        print(f"a task without one is told {variable!r} and sees {count}")
    finally:
        ray.shutdown()
