def late():
    import conv
    return conv.D
