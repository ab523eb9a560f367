import json


class Encoder(json.JSONEncoder):
    pass
