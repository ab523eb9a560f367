from effects.base import register

X = [register(name) for name in 'ab']
