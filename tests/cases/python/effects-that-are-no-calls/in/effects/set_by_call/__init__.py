import effects.base

X = setattr(effects.base, 'N', 8)
