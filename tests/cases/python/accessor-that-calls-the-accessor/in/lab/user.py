try:
    import cupy as cp
except ImportError:
    cp = None


def there():
    return cp is not None
