from bm import backend
from bm.backend import chosen


def go(x):
    return chosen.launch(x) if x else backend.chosen.launch(x)
