try:
    from pkg.old import GPU_AVAILABLE
except ImportError:
    GPU_AVAILABLE = False
