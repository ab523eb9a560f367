"""A tree that a client can change, and the program that serves it."""

import asyncio
import pathlib
import sys
import tempfile


def run(files: dict[str, str], session) -> None:
    """Writes the files and has `session(program, root)` go through its five minutes at most."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place).resolve() / "tree"
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        asyncio.run(asyncio.wait_for(session(program, root), 300))
