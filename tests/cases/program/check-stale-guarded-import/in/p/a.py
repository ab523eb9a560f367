try:
    from p.fast import run
except ImportError:
    run = None

try:
    from p.b import go
except ImportError:
    go = None

try:
    import cupy
except ImportError:
    cupy = None
