
from p.new.a import \
    X
