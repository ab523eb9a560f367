from dataclasses import dataclass


@dataclass
class Size:
    width: int
    height: int

    def area(self):
        return self.width * self.height


def clean(value):
    text = str(value)
    return text.strip().lower()
