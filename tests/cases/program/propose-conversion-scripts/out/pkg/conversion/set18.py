"""Labels of set18."""

def copy_and_convert_labels(source, target):
    values = read(source)
    unique = sorted(set(values))
    for value in unique:
        if value not in (0, 1, 2, 4):
            raise RuntimeError(f"unexpected label {value}")
    converted = [0] * len(values)
    for index, value in enumerate(values):
        if value == 4:
            converted[index] = 3
        elif value == 2:
            converted[index] = 1
        elif value == 1:
            converted[index] = 2
    write(target, converted)


def read(path):
    with open(path) as file:
        return [int(line) for line in file if line.strip()]


def write(path, values):
    with open(path, "w") as file:
        for value in values:
            file.write(f"{value}\n")


if __name__ == "__main__":
    SOURCE = "raw/2018"
    for case in range(285):
        copy_and_convert_labels(f"{SOURCE}/{case}.txt", f"out/{case}.txt")
