"""Prints."""


def main():
    print(1)


if __name__ == "__main__":
    main()
