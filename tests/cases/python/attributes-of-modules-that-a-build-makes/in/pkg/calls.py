import pkg._native as native

LIMIT = native.start()
