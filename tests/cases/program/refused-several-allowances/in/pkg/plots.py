"""For those who have the drawing library."""
import drawing_library_that_is_not_here as drawing


def draw(shape):
    drawing.show(shape)
