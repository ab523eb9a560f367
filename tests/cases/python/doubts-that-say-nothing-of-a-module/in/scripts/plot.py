print("#")
