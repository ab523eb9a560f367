from .pitch import f as f
