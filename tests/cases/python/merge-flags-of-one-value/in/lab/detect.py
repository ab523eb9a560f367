try:
    import torch
    HAS_TORCH = True
except ImportError:
    HAS_TORCH = False
    torch = None


def count():
    return torch.cuda.device_count() if HAS_TORCH else 0
