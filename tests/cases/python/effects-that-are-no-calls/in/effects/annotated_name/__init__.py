from effects.base import register

X: register('x') = 1
