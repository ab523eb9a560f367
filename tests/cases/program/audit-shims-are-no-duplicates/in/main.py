from pkg.a import f_a
from pkg.b import f_b
from pkg.c import g_c, stays_c
from pkg.d import g_d, stays_d

print(f_a(1), f_b(1), g_c(1), g_d(1), stays_c(1), stays_d(1))
