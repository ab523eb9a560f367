def check_a(): return "a"
def check_b(): return "b"
