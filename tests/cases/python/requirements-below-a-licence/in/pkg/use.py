from pkg.plain import area
