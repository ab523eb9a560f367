from ke.table import known


@known("first")
def made():
    return "first"
