from .a import helper

print(helper())


class Kind:
    def go(self):
        return helper()
