from effects.base import ONE

X = len(ONE)
