class Group:
    pass
