from .util import *
from .goods.basket import Basket
from .goods.basket import helper
