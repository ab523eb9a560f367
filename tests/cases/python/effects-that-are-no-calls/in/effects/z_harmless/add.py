def of_z_harmless(x):
    return x + 1
