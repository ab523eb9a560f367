from p import checks
def run(): return [getattr(checks, n)() for n in dir(checks) if n.startswith("check_")]
