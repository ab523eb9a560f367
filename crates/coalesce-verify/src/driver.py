"""Imports modules, each once in a process of its own, and reports how that went, a JSON line each.

Arguments: a file with {"tree", "roots", "modules", "seconds", "jobs"}. Prints to the file that
COALESCE_VERIFY_REPORT names; what the modules print goes nowhere.
"""

import json
import os
import subprocess
import sys
import time


def places(error, tree):
    """File and line of every frame inside the tree, the innermost first, causes before effects."""
    import traceback

    found, chain, seen = [], [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        chain.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    for each in chain:
        frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(each.__traceback__)]
        if isinstance(each, SyntaxError) and each.filename:
            frames.append((each.filename, each.lineno))
        for name, line in reversed(frames):
            path = os.path.realpath(name)
            if path.startswith(tree + os.sep) and os.path.isfile(path):
                found.append([os.path.relpath(path, tree).replace(os.sep, "/"), line or 1])
    return found


def import_one(name, tree):
    import importlib

    try:
        module = importlib.import_module(name)
    except BaseException as error:
        kind = type(error).__name__
        return {"error": kind, "message": "%s: %s" % (kind, error), "places": places(error, tree)}
    file = getattr(module, "__file__", None)
    if file and not os.path.realpath(file).startswith(tree + os.sep):
        return {"error": "Elsewhere", "message": "it was imported from outside the copy: " + file, "places": []}
    return {"error": None, "message": "", "places": []}


def child(name, tree, roots):
    """Runs in the process of one module; the last line of its output is the report."""
    keep = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    sys.path[:] = roots + sys.path[1:]
    sys.argv = [""]
    os.write(keep, json.dumps(import_one(name, tree)).encode() + b"\n")
    # Threads and exit handlers of a module must not hold up the others.
    os._exit(0)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    tree, roots = os.path.realpath(task["tree"]), task["roots"]
    if len(sys.argv) > 2:
        child(sys.argv[2], tree, roots)
    report = open(os.environ["COALESCE_VERIFY_REPORT"], "w", encoding="utf-8")
    waiting, running = list(reversed(task["modules"])), []
    while waiting or running:
        while waiting and len(running) < task["jobs"]:
            name = waiting.pop()
            command = [sys.executable, __file__, sys.argv[1], name]
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            running.append((name, process, time.monotonic() + task["seconds"]))
        left = []
        for name, process, until in running:
            late = time.monotonic() > until
            if process.poll() is None and not late:
                left.append((name, process, until))
                continue
            if late:
                process.kill()
            said = process.communicate()[0].strip().splitlines()
            try:
                result = json.loads(said[-1])
            except (IndexError, ValueError):
                kind = "TimeLimit" if late else "Killed"
                text = "it took longer than %s s" % task["seconds"] if late else "its process ended with %s" % process.returncode
                result = {"error": kind, "message": text, "places": []}
            result["module"] = name
            report.write(json.dumps(result) + "\n")
        running = left
        if running:
            time.sleep(0.005)
    report.close()


main()
