from pkg.new import h, k

print(h(), k(False))
