from shop.box import SIMPLE, Frame

assert Frame.inner is SIMPLE
