"""Has something else by the name of the module."""
curves = ("circle", "line")
