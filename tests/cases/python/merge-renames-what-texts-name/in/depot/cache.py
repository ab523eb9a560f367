class Cache:
    pass


class StoreFormatter:
    pass
