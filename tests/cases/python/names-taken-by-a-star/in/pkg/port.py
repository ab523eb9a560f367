from pkg import a

PORT = a.__dict__["PORT"]
