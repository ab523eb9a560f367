from pkg.broken.deep import deep

LATE = 1
