from pkg import state
from pkg.state import check


class Guard:
    error = state.Lost

    def caught(self):
        try:
            check(9)
        except state.Lost as lost:
            return lost.args[0]
