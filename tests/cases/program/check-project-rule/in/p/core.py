import cupy as xp
