def policy(name="p"):
    return name
