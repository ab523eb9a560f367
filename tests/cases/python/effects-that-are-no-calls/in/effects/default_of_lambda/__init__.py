from effects.base import register

G = lambda x=register('a'): x
