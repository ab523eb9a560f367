from gained.base import register


class Left:
    def __del__(self):
        register('left')


Left()
