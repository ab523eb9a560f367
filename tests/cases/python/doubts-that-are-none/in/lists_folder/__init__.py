from pathlib import Path
IGNORED = ["__pycache__", "base"]
def found():
    return sorted(
        path.parts[-1]
        for path in Path(__file__).parent.joinpath("context").iterdir()
        if path.is_dir() and path.parts[-1] not in IGNORED
    )
def cached():
    folder = Path("~/.cache/atlas").expanduser()
    return folder, list(Path("/opt").glob("Viewer*"))
