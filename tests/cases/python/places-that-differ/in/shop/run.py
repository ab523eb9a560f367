import json

from shop.old import f

print(json.dumps(f()))
