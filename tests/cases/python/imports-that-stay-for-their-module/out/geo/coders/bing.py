class Bing:
    url = "https://bing"


class Yandex:
    url = "https://yandex"
