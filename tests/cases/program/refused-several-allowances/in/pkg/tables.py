"""For those who have the other library."""
import tables_library_that_is_not_here as tables


def table(shape):
    tables.show(shape)
