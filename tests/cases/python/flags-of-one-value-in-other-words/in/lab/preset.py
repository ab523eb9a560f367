HAS_CUPY = False
try:
    import cupy
    HAS_CUPY = True
except ImportError:
    pass


def there():
    return HAS_CUPY
