from pkg import errors, limits
import pkg.errors


def check(count):
    if count > limits.LIMIT:
        raise errors.Lost(limits.depth())
    return count


def pick(sizes):
    return sizes or limits.depth()


class Guard:
    error = pkg.errors.Lost

    def caught(self):
        try:
            check(9)
        except errors.Lost as lost:
            return lost.args[0]
