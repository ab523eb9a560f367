import operator

from gained.base import TABLE

operator.methodcaller('append', 1)(TABLE)
