# café
from p.new.a import (X,
                 X as  Y)   # odd   spacing


import p.new.a ; z = 'x'
