def g_c(x):
    return x + 2
