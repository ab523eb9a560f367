from effects.base import TEXTS

TEXTS |= {'a': 1}
