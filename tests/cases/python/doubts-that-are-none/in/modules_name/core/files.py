from .. import thread
class Opened:
    limit = thread.LIMIT
