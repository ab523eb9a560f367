from mb import asks, both, use
assert (use.go(), both.go(), asks.go()) == ((3, 3, 7), (3, 3, 5), (3, 7)), (use.go(), both.go(), asks.go())
