from app.memt.stack import stack


def run():
    return stack()
