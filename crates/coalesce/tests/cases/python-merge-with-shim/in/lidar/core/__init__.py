from .gpu import detect
