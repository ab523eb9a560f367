try:
    from p.gone import X
except ImportError:
    X = None
