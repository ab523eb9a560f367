class Spare:
    pass


if __name__ == "__main__":
    print(Spare())
