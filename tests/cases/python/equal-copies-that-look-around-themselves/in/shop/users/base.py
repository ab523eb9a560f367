class Repository:
    def model(self):
        from . import models

        return models.Model


def limit():
    from .limits import LIMIT

    return LIMIT


def shared():
    from ..common import VALUE

    return VALUE
