def plain(text):
    return text.strip()
