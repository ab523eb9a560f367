BORDERS = (None, "near", "far")
