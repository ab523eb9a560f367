from plug.base import Plugin
from plug.meta import Middle


class Alpha(Plugin):
    pass


class Gamma(Middle):
    pass
