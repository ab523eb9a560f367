import pkg
assert pkg.geo.lie.So3.__name__ == "So3"
