raise RuntimeError("removed in 3.0")
