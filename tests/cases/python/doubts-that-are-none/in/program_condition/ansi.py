import sys
def decoded(text):
    return text.upper()
LIMIT = 1
if sys.platform != "win32" and __name__ == "__main__":
    import pty
    pty.spawn(sys.argv[1:])
