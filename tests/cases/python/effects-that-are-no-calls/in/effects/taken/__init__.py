from effects.base import TABLE

X = TABLE.pop() if TABLE else None
