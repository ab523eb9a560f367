slug = 1
