from shop.box import Frame
from shop.simple import SIMPLE

assert Frame.inner is SIMPLE
