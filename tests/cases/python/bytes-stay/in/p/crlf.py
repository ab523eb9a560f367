# café
from p.a import (X,
                 X as  Y)   # odd   spacing


import p.a ; z = 'x'
