def pick_device():
    return 0
