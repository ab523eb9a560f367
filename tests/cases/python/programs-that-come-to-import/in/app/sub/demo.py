def show(x):
    return x + 1


if __name__ == "__main__":
    print(show(1))
