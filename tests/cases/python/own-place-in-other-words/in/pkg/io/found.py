import importlib.util

HERE = importlib.util.find_spec(__name__).origin
