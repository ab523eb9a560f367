import gained.base

setattr(gained.base, 'N', 8)
