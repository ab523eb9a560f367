import collections

from gained.base import register


def make():
    return register('d')


MADE = collections.defaultdict(make)
X = MADE['a']
