from pkg.counts.table import TABLE

COLOUR = len(TABLE)
