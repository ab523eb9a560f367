HAS_CUPY = False
try:
    HAS_CUPY = True
    import cupy
except ImportError:
    pass


def there():
    return HAS_CUPY
