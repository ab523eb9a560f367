from p.conf import as_dict
from p.consts import LIMIT
print(as_dict(), LIMIT)
