from .y import *


def there():
    return helper()
