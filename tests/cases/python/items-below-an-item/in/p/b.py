def g(): return "g"
def h(): return "h"
def k(): return "k"
