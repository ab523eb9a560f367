from effects.base import ONE

X = 1 in ONE
