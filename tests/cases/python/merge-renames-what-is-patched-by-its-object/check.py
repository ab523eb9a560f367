import test_flags
from flags import a
test_flags.test()
assert a.of_a() == 1
