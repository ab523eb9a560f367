class Invalid(Exception):
    pass
