"""Ends with what is run as a program: nothing arrives below that."""


class Tool:
    pass


if __name__ == "__main__":
    print(Tool)
