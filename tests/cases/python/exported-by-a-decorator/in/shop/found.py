from .exporting import exported


@exported
def two():
    return 2
