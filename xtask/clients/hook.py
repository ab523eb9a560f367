"""The hook of `.pre-commit-hooks.yaml` with pre-commit: a commit that brings an old name back is stopped."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": "def begin():\n    return 1\n",
    "migrations/0001-forbid.toml": 'schema = 1\n\n[[forbid]]\nimport = "pkg.old"\nmessage = "use pkg.core"\n',
}


def main() -> None:
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place).resolve()
        (place / "bin").mkdir()
        (place / "bin/coalesce").symlink_to(program)
        hooks, tree = place / "hooks", place / "tree"
        environment = {
            **os.environ,
            "HOME": str(place),
            "PATH": f"{place / 'bin'}{os.pathsep}{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }

        def run(*words: str, cwd: pathlib.Path = tree, code: int = 0) -> str:
            done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)
            said = done.stdout + done.stderr
            assert done.returncode == code, (words, done.returncode, said)
            return said

        def begin(folder: pathlib.Path) -> None:
            folder.mkdir()
            run("git", "init", "-q", "-b", "main", cwd=folder)
            run("git", "config", "user.name", "Ada", cwd=folder)
            run("git", "config", "user.email", "ada@example.com", cwd=folder)

        begin(hooks)
        shutil.copy(HERE / ".pre-commit-hooks.yaml", hooks)
        run("git", "add", "-A", cwd=hooks)
        run("git", "commit", "-q", "-m", "hooks", cwd=hooks)
        revision = run("git", "rev-parse", "HEAD", cwd=hooks).strip()
        begin(tree)
        for name, text in FILES.items():
            file = tree / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        settings = f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: coalesce-check\n"
        (tree / ".pre-commit-config.yaml").write_text(settings)
        run("git", "add", "-A")
        run("pre-commit", "install")
        print(run("git", "commit", "-m", "clean").strip().splitlines()[0])
        (tree / "pkg/late.py").write_text("import pkg.old\n")
        run("git", "add", "-A")
        said = run("git", "commit", "-m", "late", code=1)
        assert "forbidden-path" in said, said
        print(said.strip())


main()
