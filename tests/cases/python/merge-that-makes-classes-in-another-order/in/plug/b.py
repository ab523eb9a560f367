from plug.base import Plugin
from plug.meta import Middle
from plug import a


class Beta(Plugin):
    def first(self):
        return a.Alpha


class Delta(Middle):
    pass
