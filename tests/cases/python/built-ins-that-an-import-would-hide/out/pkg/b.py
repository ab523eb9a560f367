def max(values):
    return "most"
