import sys


def step(x):
    return x + 1


def main():
    print(step(int(sys.argv[1])))


if __name__ == "__main__":
    main()
