from pkg.compat import Later
