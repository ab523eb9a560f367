from pathlib import Path

HERE = Path(__file__).parent


def find():
    return [path.stem for path in HERE.iterdir()]
