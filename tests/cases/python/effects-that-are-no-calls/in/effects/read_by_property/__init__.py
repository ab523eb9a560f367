from effects.base import PLAIN

X = PLAIN.value
