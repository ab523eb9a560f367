class Backend:
    known = []

    def __init_subclass__(cls):
        Backend.known.append(cls)


class Host(Backend):
    pass
