def fuse(words):
    return words
