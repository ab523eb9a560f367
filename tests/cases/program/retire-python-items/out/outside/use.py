from shop import util

print(util.stays())
name = "Basket"
print(getattr(util, name))
