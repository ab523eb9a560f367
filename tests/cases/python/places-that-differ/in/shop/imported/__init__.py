if __name__ != "__main__":
    raise RuntimeError("removed")
