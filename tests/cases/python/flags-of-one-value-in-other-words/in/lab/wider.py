try:
    import cupy
    HAS_CUPY = True
except Exception:
    HAS_CUPY = False


def there():
    return HAS_CUPY
