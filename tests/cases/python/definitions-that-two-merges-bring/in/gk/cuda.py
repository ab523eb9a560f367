def sync():
    return "cuda"
