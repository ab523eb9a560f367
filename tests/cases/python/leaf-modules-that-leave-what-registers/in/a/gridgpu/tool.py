def run():
    return 1


if __name__ == "__main__":
    run()
