from pkg.keys import Key
from pkg.loud import LOG
