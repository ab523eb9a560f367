from typing import Callable, List

Hook = Callable[["Settings"], None]
Plain = List[int]


class Settings:
    pass
