from lab import old
from lab.old import LIMIT, Pool, pick_device


def both():
    return pick_device(LIMIT) + old.pick_device() + Pool().size + old.Pool().size
