try:
    import cupy
    HAS_CUPY = True
except ImportError:
    HAS_CUPY = False
    cupy = None


def there():
    return HAS_CUPY
