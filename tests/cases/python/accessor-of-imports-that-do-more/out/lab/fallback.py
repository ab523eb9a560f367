try:
    import cupy as xp
except ImportError:
    import numpy as xp
