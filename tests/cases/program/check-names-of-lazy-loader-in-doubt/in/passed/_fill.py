def fill(t):
    t["core"] = ["A"]
