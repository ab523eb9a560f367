"""Imports modules, each once in a process of its own, and reports how that went, a JSON line each.

Arguments: a file with {"tree", "roots", "modules", "changed", "seconds", "jobs"}; for the process of
one module its name. Writes to the file that COALESCE_VERIFY_REPORT names; what the modules print goes
nowhere.

What a module imports from outside of the tree is most of the work, so on Linux most processes are
copies of one that has done it and has never seen the tree. Those that the change concerns, and those
that fail in a copy, get a new interpreter.
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


def child(name, tree):
    """The process of one module: its last line of output is the report, and then it is over."""
    keep = os.dup(1)
    silence()
    os.write(keep, json.dumps(import_one(name, tree)).encode() + b"\n")
    # Threads and exit handlers of a module must not hold up the others.
    os._exit(0)


def silence():
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def inside(module, tree):
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and os.path.realpath(file).startswith(tree + os.sep)


def scout(task, tree):
    """Names what the modules import from outside of the tree, in that order. Runs in a process of its
    own, for it imports the tree to find out."""
    keep = os.dup(1)
    silence()
    told = set(sys.modules)
    own = {name.partition(".")[0] for name in task["modules"]}
    for name in task["modules"]:
        import_one(name, tree)
        for each in [each for each in list(sys.modules) if each not in told]:
            told.add(each)
            # A package of the tree without a file is not inside, and still its own.
            if each.partition(".")[0] not in own and not inside(sys.modules.get(each), tree):
                os.write(keep, each.encode() + b"\n")
    os._exit(0)


# How an import ends that would end so in any process.
BELIEVED = {
    None, "AttributeError", "Elsewhere", "FileNotFoundError", "ImportError", "IndentationError",
    "ModuleNotFoundError", "NameError", "SyntaxError", "SystemExit", "TimeLimit", "TypeError", "ValueError",
}


class Fresh:
    """A new interpreter for one module."""

    def __init__(self, name):
        command = [sys.executable, __file__, sys.argv[1], name]
        devnull = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=devnull, stdout=subprocess.PIPE, stderr=devnull)

    def ended(self):
        return self.process.poll() is not None

    def end(self, late):
        if late:
            self.process.kill()
        return self.process.communicate()[0], self.process.returncode


class Forked:
    """A copy of this interpreter, which has imported what the modules need from elsewhere."""

    def __init__(self, name, tree):
        self.pipe, write = os.pipe()
        self.pid, self.status = os.fork(), None
        if self.pid == 0:
            os.dup2(write, 1)
            child(name, tree)
        os.close(write)

    def ended(self):
        if self.status is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if done else None
        return self.status is not None

    def end(self, late):
        if late and self.status is None:
            os.kill(self.pid, 9)
            self.status = os.waitpid(self.pid, 0)[1]
        with os.fdopen(self.pipe, "rb") as pipe:
            return pipe.read(1 << 20), self.status


def compile_all(tree):
    """Writes byte code that is told by the hash of its source, never by a time, so that each process
    need not compile the tree again and none can take what is stale."""
    import importlib.util
    import py_compile

    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    for directory, _, names in os.walk(tree):
        for name in names:
            if not name.endswith(".py"):
                continue
            source = os.path.join(directory, name)
            target = importlib.util.cache_from_source(source)
            try:
                with open(source, "rb") as file:
                    wanted = importlib.util.source_hash(file.read())
                try:
                    with open(target, "rb") as file:
                        if file.read(16)[8:] == wanted:
                            continue
                except OSError:
                    pass
                py_compile.compile(source, target, doraise=False, invalidation_mode=mode, quiet=2)
            except (OSError, ValueError, RecursionError, MemoryError):
                pass  # Whoever imports it gets to see what is wrong.


def preloaded(task, tree):
    """Imports what the tree needs from elsewhere, so that copies of this process need not; whether
    that left the tree itself alone."""
    if not sys.platform.startswith("linux") or len(task["modules"]) < 8:
        return False
    first = subprocess.Popen(
        [sys.executable, __file__, sys.argv[1], "", "scout"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    try:
        said = first.communicate(timeout=task["seconds"])[0]
    except subprocess.TimeoutExpired:
        first.kill()
        said = first.communicate()[0]
    import importlib

    keep = [os.dup(descriptor) for descriptor in (0, 1, 2)]
    silence()
    for name in said.decode().split():
        try:
            importlib.import_module(name)
        except BaseException:
            pass
    for descriptor, kept in enumerate(keep):
        os.dup2(kept, descriptor)
        os.close(kept)
    return not any(inside(module, tree) for name, module in list(sys.modules.items()) if name != "__main__")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    tree = os.path.realpath(task["tree"])
    sys.path[:] = task["roots"] + sys.path[1:]
    arguments, sys.argv = sys.argv, [""] if len(sys.argv) > 2 else sys.argv
    if len(arguments) > 3:
        scout(task, tree)
    if len(arguments) > 2:
        child(arguments[2], tree)
    if getattr(sys, "pycache_prefix", None):
        compile_all(tree)
    path = list(sys.path)
    quick = preloaded(task, tree)
    sys.path[:] = path
    fresh = set(task["changed"]) if quick else set(task["modules"])
    results, running = {}, []
    waiting = list(reversed(task["modules"]))
    while waiting or running:
        while waiting and len(running) < task["jobs"]:
            name = waiting.pop()
            process = Fresh(name) if name in fresh else Forked(name, tree)
            running.append((name, process, time.monotonic() + task["seconds"]))
        left = []
        for name, process, until in running:
            late = time.monotonic() > until
            if not process.ended() and not late:
                left.append((name, process, until))
                continue
            result = read_result(process.end(late), late, task["seconds"])
            if name not in fresh and result["error"] not in BELIEVED:
                # It may fail because it is a copy.
                fresh.add(name)
                waiting.append(name)
                continue
            results[name] = result
        running = left
        if running:
            time.sleep(0.002)
    with open(os.environ["COALESCE_VERIFY_REPORT"], "w", encoding="utf-8") as report:
        for name in task["modules"]:
            report.write(json.dumps(dict(results[name], module=name)) + "\n")


def read_result(end, late, seconds):
    said, status = end
    try:
        return json.loads(said.strip().splitlines()[-1])
    except (IndexError, ValueError):
        if late:
            return {"error": "TimeLimit", "message": "it took longer than %s s" % seconds, "places": []}
        return {"error": "Killed", "message": "its process ended with %s" % status, "places": []}


main()
