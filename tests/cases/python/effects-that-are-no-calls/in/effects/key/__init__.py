import functools

from effects.base import register

X = sorted('ab', key=register)
