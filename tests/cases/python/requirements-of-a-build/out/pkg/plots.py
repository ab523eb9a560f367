"""What it imports is installed with the package."""
import drawing_library_that_is_not_here as drawing


def draw(shape):
    drawing.show(shape)


def area(width, height):
    return width * height
