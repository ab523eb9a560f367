OK = 0
KEY = "key"
