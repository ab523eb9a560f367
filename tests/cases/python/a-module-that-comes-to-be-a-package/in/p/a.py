def f(): return "f"
