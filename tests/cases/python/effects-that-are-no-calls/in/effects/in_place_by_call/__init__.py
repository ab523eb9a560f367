import operator

from effects.base import TABLE

operator.iadd(TABLE, ['a'])
