from mb import offers


def go():
    return offers.REPEAT, offers.LIMIT
