URL = "https://yandex"


class Yandex:
    url = "https://yandex"


def key():
    return URL
