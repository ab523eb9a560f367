"""Says what there is, and where the time went."""


def lines():
    from lidar.optimization.gpu import detect_gpu_backends, get_gpu_manager
    from lidar.optimization.gpu_profiler import get_profiler

    manager = get_gpu_manager()
    yield f"{manager.device}, {'a GPU' if manager.is_gpu else 'no GPU'}"
    yield "backends: " + ", ".join(detect_gpu_backends())
    for name, (count, _) in get_profiler().report().items():
        yield f"{name}: {count} times"


if __name__ == "__main__":
    print("\n".join(lines()))
