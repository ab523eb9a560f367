import pkg.pitch

print(pkg.pitch.f())
