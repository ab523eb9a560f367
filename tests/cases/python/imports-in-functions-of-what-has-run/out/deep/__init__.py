from deep import start
