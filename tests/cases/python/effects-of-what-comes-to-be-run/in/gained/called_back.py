from gained.base import calls


def callback():
    print('called')


calls(callback)
