from . import core
from .core import Base, Client, cli

core.HEADERS["b"] = 2
core.PLUGINS.append("x")
core.DEBUG = True
Client.timeout = 5


@cli.command
def serve():
    return 1


class Post(Base):
    pass


print(core.UNTOUCHED.index("a"))
