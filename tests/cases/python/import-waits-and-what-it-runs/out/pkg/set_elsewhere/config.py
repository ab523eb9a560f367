COLOUR = "red"
