import filters, filters.ops
assert (filters.blur(1), filters.ops.negated(2)) == (2, -2)
