from p import settings
def as_dict(): return {k: v for k, v in settings.__dict__.items() if k.isupper()}
