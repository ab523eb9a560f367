from effects.base import register

X = dict(map(lambda name: (name, register(name)), 'ab'))
