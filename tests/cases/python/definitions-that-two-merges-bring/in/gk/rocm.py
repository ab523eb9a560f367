def sync():
    return "rocm"
