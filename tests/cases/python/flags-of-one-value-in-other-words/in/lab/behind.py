try:
    import cupy
except ImportError:
    HAS_CUPY = False
else:
    HAS_CUPY = True


def there():
    return HAS_CUPY
