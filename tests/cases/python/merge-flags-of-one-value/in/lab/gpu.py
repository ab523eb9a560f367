try:
    import torch
    HAS_TORCH = True
except ImportError:
    torch = None
    HAS_TORCH = False


def device():
    return "cuda" if HAS_TORCH else "cpu"
