HOST = "h"
PORT = 1
