from typing import Callable

_Replacement = Callable[[str], str]
Method = Callable[[_Replacement, str], str]


def replace(text, method: Method):
    return method(str, text)
