from typing import Callable



_Replacement = Callable[[str], str]
Method = Callable[[_Replacement, str], str]

X = 1
