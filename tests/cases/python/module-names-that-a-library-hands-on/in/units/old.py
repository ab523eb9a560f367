class Moved:
    pass


STAYS = 1
