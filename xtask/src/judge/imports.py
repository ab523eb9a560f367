"""Imports each module in a process of its own, and prints what came of it as JSON.

Standard input: {"modules": […], "preload": […], "old": "pkg.old" or null, "seconds": 60}
"""
import json
import os
import select
import signal
import sys
import warnings


def imported(name, old):
    """Runs in the child: (error or None, external packages loaded, whether the old name warned)."""
    known = set(sys.modules)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            __import__(name)
            error = None
        except BaseException as problem:  # What a module raises may be anything, exit included.
            error = f"{type(problem).__name__}: {problem}"[:300]
    loaded = sorted({module.partition(".")[0] for module in set(sys.modules) - known})
    own = old is not None and (name == old or name.startswith(old + "."))
    warned = bool(old) and not own and any(
        issubclass(warning.category, DeprecationWarning) and old in str(warning.message)
        for warning in told
    )
    return error, loaded, warned


def in_child(name, old, seconds):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        answer = json.dumps(imported(name, old)).encode()
        while answer:
            answer = answer[os.write(writer, answer):]
        os._exit(0)
    os.close(writer)
    parts = []
    while True:
        ready, _, _ = select.select([reader], [], [], seconds)
        part = os.read(reader, 65536) if ready else None
        if not part:
            break
        parts.append(part)
    os.close(reader)
    try:
        os.kill(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)
    try:
        return json.loads(b"".join(parts))
    except ValueError:
        return ["it ended, or took too long, without an answer", [], False]


def main():
    wanted = json.load(sys.stdin)
    for name in wanted["preload"]:
        try:
            __import__(name)
        except BaseException:
            pass
    answers = {name: in_child(name, wanted["old"], wanted["seconds"]) for name in wanted["modules"]}
    json.dump(answers, sys.stdout)


main()
