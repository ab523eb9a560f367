from ke.table import known


@known("second")
def made():
    return "second"
