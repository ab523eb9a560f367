from .gpu.pool import acquire
