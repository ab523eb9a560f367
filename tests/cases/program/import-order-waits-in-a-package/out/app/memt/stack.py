from app.memt.wrap import W


def stack():
    return W()
