import time

SHADE = time.time()
