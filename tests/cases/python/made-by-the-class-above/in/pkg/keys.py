"""Nobody imports it when it is imported itself."""
from pkg.attributes import Louder, Shown


class Key:
    compact = Shown(True)


class LoudKey:
    compact = Louder(True)
