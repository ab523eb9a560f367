import json

json.JSONEncoder.item_separator = ' '
