from p.b import g, h, k
print(g(), h(), k())
