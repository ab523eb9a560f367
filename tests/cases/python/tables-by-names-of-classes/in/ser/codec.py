import json
from ser.shapes import TYPES
def dump(o): return json.dumps({"type": type(o).__name__, **vars(o)})
def load(s):
    d = json.loads(s)
    return TYPES[d.pop("type")](**d)
