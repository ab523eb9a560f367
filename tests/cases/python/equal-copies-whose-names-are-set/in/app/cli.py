DELAY = 0.5
COLOR = False
BASE = "http://prod"
PORT = 80
LEVEL = 1


def _request(url):
    return "net " + url


def enable():
    global COLOR
    COLOR = True


def fetch(url):
    return _request(url)


def wait():
    return DELAY


def show(text):
    return ("*" if COLOR else "") + text


def address(path):
    return BASE + path


def port():
    return PORT


def level():
    return LEVEL
