from pkg.compat import Flag

NOTHING = Flag(0)
