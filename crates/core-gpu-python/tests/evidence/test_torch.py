"""PyTorch on the processor sees the memory of a buffer, without a copy and for as long as it likes."""

import pytest

torch = pytest.importorskip("torch")

import core_gpu


def test_torch_and_the_runtime_have_the_same_memory():
    with core_gpu.Gpu.open("cpu") as gpu:
        buffer = gpu.upload(torch.arange(6, dtype=torch.float32).reshape(2, 3).numpy())
        tensor = torch.from_dlpack(buffer)
        assert tensor.shape == (2, 3) and tensor.sum().item() == 15.0
        tensor += 1
        assert torch.from_dlpack(buffer).sum().item() == 21.0
        assert buffer.to_numpy().sum() == 21.0
        assert core_gpu.dlpack_exports() > 0
        del buffer
        assert tensor.sum().item() == 21.0
        del tensor
        assert core_gpu.dlpack_exports() == 0
    print("PyTorch", torch.__version__, "on the processor sees and writes a buffer's memory")


@pytest.mark.parametrize("name", ["uint8", "int32", "int64", "float16", "float32", "float64"])
def test_types_are_the_same(name):
    with core_gpu.Gpu.open("cpu") as gpu:
        buffer = gpu.allocate([4], name)
        tensor = torch.from_dlpack(buffer)
        assert str(tensor.dtype) == "torch." + name
        del tensor, buffer
