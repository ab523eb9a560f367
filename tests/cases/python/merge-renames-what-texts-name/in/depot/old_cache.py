class Store:
    pass


class StoreFormatter:
    pass
