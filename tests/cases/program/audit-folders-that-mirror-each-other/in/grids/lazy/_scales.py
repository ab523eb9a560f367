SCALES = (None, 1, 2, 4)
