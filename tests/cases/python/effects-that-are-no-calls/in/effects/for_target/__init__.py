import effects.base

for effects.base.N in (1, 2):
    pass
