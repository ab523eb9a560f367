from effects.base import ENTERED

with ENTERED:
    pass
