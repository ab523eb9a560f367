class Report:
    pass


if __name__ == "__main__":
    print(Report())
