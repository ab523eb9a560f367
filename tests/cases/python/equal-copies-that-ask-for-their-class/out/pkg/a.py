class Closed(Exception):
    pass


def is_closed(error):
    return type(error) is Closed


def is_open(error):
    return not isinstance(error, Closed)


class Session:
    def catch(self, call):
        try:
            return call()
        except Closed:
            return "caught"


def text(error):
    return str(error)
