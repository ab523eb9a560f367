"""For those who have the drawing library; nobody else imports this."""
import drawing_library_that_is_not_here as drawing


def draw(shape):
    drawing.show(shape)


def area(width, height):
    return width * height
