from shop.box import Frame

class User(Frame):
    pass
