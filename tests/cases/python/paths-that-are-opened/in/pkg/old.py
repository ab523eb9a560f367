def probe():
    return "probe"
