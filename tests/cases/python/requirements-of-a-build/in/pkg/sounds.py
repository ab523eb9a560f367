"""What it imports has to be asked for."""
import other_library_that_is_not_here as other


def sound(shape):
    other.play(shape)
