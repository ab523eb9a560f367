from q import Fast
from q._core import kernel

LOG = "q.gone.logger"
MESSAGE = "q.cli is called q.climb by nobody"


def main():
    return Fast, kernel
