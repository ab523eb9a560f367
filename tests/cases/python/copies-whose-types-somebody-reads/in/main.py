from pkg.c import shown

print(shown(1))
