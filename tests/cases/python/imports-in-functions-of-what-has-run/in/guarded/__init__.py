try:
    from guarded.points import shift
except ImportError:
    shift = None
