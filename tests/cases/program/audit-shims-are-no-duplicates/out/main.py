from pkg.new_a import f_a
from pkg.new_b import f_b
from pkg.c import stays_c
from pkg.new_c import g_c
from pkg.d import stays_d
from pkg.new_d import g_d

print(f_a(1), f_b(1), g_c(1), g_d(1), stays_c(1), stays_d(1))
