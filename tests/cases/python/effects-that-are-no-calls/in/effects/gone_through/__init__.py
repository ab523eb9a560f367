from effects.base import ONE

X = list(ONE)
