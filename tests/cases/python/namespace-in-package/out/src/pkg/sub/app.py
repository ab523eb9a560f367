from ..ser.provider import P
class App(P): pass
