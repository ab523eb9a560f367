import pkg
print(pkg.lie.So3)
