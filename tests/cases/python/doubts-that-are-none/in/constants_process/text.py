def shown(text):
    return text
LIMIT = 1
