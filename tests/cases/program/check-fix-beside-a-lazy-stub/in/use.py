import pkg.core.pitch

print(pkg.core.pitch.f())
