def turned(values):
    return max(values)
LIMIT = 1
