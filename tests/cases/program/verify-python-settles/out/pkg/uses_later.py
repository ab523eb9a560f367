from pkg.later import Later
