def stack():
    from app.memt import W
    return W()
