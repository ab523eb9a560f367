try:
    import cupy as cp
    CUPY_AVAILABLE = True
except ImportError:
    cp = None
    CUPY_AVAILABLE = False


def there():
    return CUPY_AVAILABLE and cp is not None
