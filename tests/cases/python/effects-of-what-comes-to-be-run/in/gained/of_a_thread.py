import threading

T = threading.Thread(target=print, args=('t',))
T.start()
