class Tool:
    pass
