from .layers import Net
