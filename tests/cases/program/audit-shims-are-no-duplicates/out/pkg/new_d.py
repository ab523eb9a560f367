def g_d(x):
    return x + 2
