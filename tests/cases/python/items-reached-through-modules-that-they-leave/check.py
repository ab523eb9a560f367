from pkg import other, state
from pkg.guards import Guard
assert other.run() == (4, 4)
assert Guard.error is state.Lost and Guard().caught() == 4 and state.pick(0) == 4
