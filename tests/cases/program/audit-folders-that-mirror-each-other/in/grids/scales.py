SCALES = (1, 2, 4)
