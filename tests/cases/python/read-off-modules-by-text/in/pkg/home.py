class Settings:
    LIMIT = 5


def own():
    return Settings.LIMIT
