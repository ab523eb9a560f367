from pkg import state


def enable():
    state.FLAG = True


def enabled():
    return state.FLAG
