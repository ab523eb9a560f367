
from p.a import \
    X
