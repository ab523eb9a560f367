class Frame:
    pass
