TIMEOUT = 30


class Base:
    def save(self):
        return "utils"


def normalize(text):
    return text.strip()


def unused():
    return 2
