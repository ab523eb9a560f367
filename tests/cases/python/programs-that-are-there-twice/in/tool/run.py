import sys

RESULTS = []
LIMIT = 3


def main():
    RESULTS.append(sys.argv)
    from tool import late

    print(late.seen(), RESULTS[:LIMIT])


if __name__ == "__main__":
    main()
