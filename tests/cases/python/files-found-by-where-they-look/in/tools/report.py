from helper import header

if __name__ == "__main__":
    print(header())
