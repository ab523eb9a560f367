def g(): return "g"
