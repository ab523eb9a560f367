OK = 0
KEY = "key"


class Kind:
    FAST = 1
