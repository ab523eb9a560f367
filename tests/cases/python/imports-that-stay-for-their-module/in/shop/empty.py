class Coupon:
    pass
