class Plugin:
    registry = []

    def __init_subclass__(cls):
        Plugin.registry.append(cls.__name__)
