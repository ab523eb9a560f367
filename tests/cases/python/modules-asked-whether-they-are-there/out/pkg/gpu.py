def stop():
    return None
