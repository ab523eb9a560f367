try:
    import cupyx
    HAS_CUPY = True
except ImportError:
    HAS_CUPY = False


def there():
    return HAS_CUPY
