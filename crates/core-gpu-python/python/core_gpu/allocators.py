"""A pool of the runtime as the allocator of PyTorch or CuPy.

    import core_gpu
    from core_gpu import allocators

    gpu = core_gpu.Gpu.open("cuda:0")
    allocators.use_in_torch(gpu)    # before PyTorch allocates anything on a device
    allocators.use_in_cupy(gpu)

The program's memory is then in one pool, with one limit and one set of figures
(`Gpu.pool_statistics`). The device must stay open as long as the library has memory. On a card this has
not run yet, nor with either library: only the functions below, on simulated devices.
"""

from __future__ import annotations

import ctypes

from . import _core_gpu

_library = ctypes.CDLL(_core_gpu.__file__)
_allocate = _library.core_gpu_allocate
_allocate.restype = ctypes.c_uint64
_allocate.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_uint64]
_free = _library.core_gpu_free
_free.restype = None
_free.argtypes = [ctypes.c_uint64, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_uint64]

_record_stream = _library.core_gpu_record_stream
_record_stream.restype = None
_record_stream.argtypes = [ctypes.c_uint64, ctypes.c_uint64]


def allocate(nbytes: int, device: int, stream: int = 0) -> int:
    """The address of memory on a device, in the order of a stream by its handle; what libraries call."""
    address: int = _allocate(nbytes, device, stream)
    if not address:
        raise _core_gpu.OutOfMemoryError(f"no {nbytes} bytes on device {device}")
    return address


def free(address: int, device: int = 0) -> None:
    """Gives memory back that `allocate` gave out."""
    _free(address, 0, device, 0)


def record_stream(address: int, stream: int) -> None:
    """Says that memory is used on another stream as well: it goes to nobody before that is done with it."""
    _record_stream(address, stream)


def use_in_torch(gpu: _core_gpu.Gpu) -> None:
    """Makes the pool of an open device PyTorch's allocator, for all of the process."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    gpu._serve()
    allocator = torch.cuda.memory.CUDAPluggableAllocator(
        _core_gpu.__file__, "core_gpu_allocate", "core_gpu_free"
    )
    hears = getattr(allocator.allocator(), "set_record_stream_fn", None)
    if hears is None:
        # Without it blocks would be used again while other streams read them.
        raise _core_gpu.AbsentError(f"PyTorch {torch.__version__} tells no allocator of `record_stream`")
    hears(ctypes.cast(_record_stream, ctypes.c_void_p).value)
    torch.cuda.memory.change_current_allocator(allocator)


def use_in_cupy(gpu: _core_gpu.Gpu) -> None:
    """Makes the pool of an open device CuPy's allocator, for all of the process."""
    import cupy  # type: ignore[import-not-found, unused-ignore]

    gpu._serve()

    # A stream object that goes destroys its stream, and an array does not keep it: its memory does.
    streams: dict[int, object] = {}

    def take(nbytes: int, device: int) -> int:
        stream = cupy.cuda.get_current_stream()
        address = allocate(nbytes, device, stream.ptr)
        streams[address] = stream
        return address

    def give(address: int, device: int) -> None:
        # First what the memory knows of it, while the stream is there. Another thread may be given the
        # address as soon as it is free.
        stream = streams.pop(address, None)
        free(address, device)
        del stream

    allocator = cupy.cuda.PythonFunctionAllocator(take, give)
    cupy.cuda.set_allocator(allocator.malloc)
