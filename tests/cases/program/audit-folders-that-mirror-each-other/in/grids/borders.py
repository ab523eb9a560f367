BORDERS = ("near", "far")
