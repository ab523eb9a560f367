import filters
import filters.ops

print(filters.blur(1), filters.ops.negated(2))
