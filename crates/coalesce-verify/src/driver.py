"""Imports modules, each once in a process of its own, and reports how that went, a JSON line each.

Arguments: a file with {"tree", "roots", "modules", "changed", "seconds", "jobs", "outside"}; for a new
interpreter that imports one module, its name. Writes to the file that COALESCE_VERIFY_REPORT names, as
results come; what the modules print goes nowhere.

A module of a package cannot be imported before the package. So on Linux the process of a module is a
copy of one that has imported the package and nothing else of the tree; that of a script or test is a
copy of one that has imported what its first import of the tree needs, where nothing stands before that
import. What the tree imports from elsewhere was imported once before, too, but not for the modules that
the change concerns. An import that fails in an odd way is tried again in a new interpreter.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

# How an import ends that would end so in any process.
BELIEVED = {
    None, "AttributeError", "Elsewhere", "FileNotFoundError", "ImportError", "IndentationError",
    "ModuleNotFoundError", "NameError", "SyntaxError", "SystemExit", "TypeError", "ValueError",
}
# With fewer modules than these, preparing what they share is more work than it saves.
MANY = 8
# Where each module stands in the list.
PLACES = {}
CLEAN, SHARED, NEW = "clean", "shared", "new"


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
    return {"error": None, "message": "", "places": [], "loaded": loaded_modules()}


def loaded_modules():
    """What of the tree is loaded, as places in the list of modules. A pipe of Windows holds little."""
    if sys.platform == "win32":
        return []
    return sorted(PLACES[name] for name in list(sys.modules) if name in PLACES)


def silence():
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def say(pipe, line):
    line = line.encode() + b"\n"
    while line:
        line = line[os.write(pipe, line):]


def inside(module, tree):
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and os.path.realpath(file).startswith(tree + os.sep)


def scout(names, tree, pipe):
    """Names what the modules import from outside of the tree, in that order. It imports the tree to find
    out, so nothing else is done in this process."""
    told = set(sys.modules)
    own = {name.partition(".")[0] for name in names}
    for name in names:
        import_one(name, tree)
        for each in [each for each in list(sys.modules) if each not in told]:
            told.add(each)
            # A package of the tree without a file is not inside, and still its own.
            if each.partition(".")[0] not in own and not inside(sys.modules.get(each), tree):
                say(pipe, each)
    return {"error": None}


def preload(names, tree):
    """Imports what the tree needs from elsewhere; an error where that has imported of the tree, too."""
    import importlib

    path = list(sys.path)
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            pass
    sys.path[:] = path
    touched = any(inside(module, tree) for name, module in list(sys.modules.items()) if name != "__main__")
    return {"error": "Inside" if touched else None}


def alone():
    """Whether no thread of Python runs beside this one: a copy would not have it."""
    threading = sys.modules.get("threading")
    return threading is None or threading.active_count() == 1


def serve(control, tree):
    """Makes copies of this process, one a request, each with a module to import; some then serve, too."""
    while True:
        # The copies are nobody's to wait for; whoever asked hears of their end by their pipe.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        message, ancillary, _, _ = control.recvmsg(1 << 20, socket.CMSG_SPACE(8))
        if not message:
            os._exit(0)
        received = [int.from_bytes(data[at:at + 4], sys.byteorder) for _, _, data in ancillary for at in (0, 4)]
        pipe, next_control = received
        if os.fork() == 0:
            control.close()
            work(json.loads(message.decode()), pipe, next_control, tree)
            control = socket.socket(fileno=next_control)
        else:
            os.close(pipe)
            os.close(next_control)


def work(request, pipe, control, tree):
    """What a copy does; it returns only in one that others are to be copied from."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    say(pipe, str(os.getpid()))
    if request["do"] == "scout":
        with open(request["task"], encoding="utf-8") as file:
            result = scout(json.load(file)["modules"], tree, pipe)
    elif request["do"] == "preload":
        with open(request["outside"], encoding="utf-8") as file:
            result = preload(file.read().split(), tree)
    else:
        result = import_one(request["name"], tree)
    serves = request["serves"] and result["error"] is None and alone()
    say(pipe, json.dumps(dict(result, serves=serves)))
    if not serves:
        # Threads and exit handlers of a module must not hold up the others.
        os._exit(0)
    os.close(pipe)


class Copy:
    """A copy of a process that serves."""

    def __init__(self, server, request):
        self.pipe, write = os.pipe()
        self.control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        both = (write).to_bytes(4, sys.byteorder) + far.fileno().to_bytes(4, sys.byteorder)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, both)]
        try:
            server.sendmsg([json.dumps(request).encode()], rights)
        except OSError:
            pass  # It is gone; the pipe ends at once, which tells.
        os.close(write)
        far.close()
        self.pid, self.lines, self.rest = None, [], b""

    def read(self):
        """Takes what was said; whether there will be no more."""
        said = os.read(self.pipe, 1 << 16)
        lines = (self.rest + said).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            if self.pid is None:
                self.pid = int(line)
            else:
                self.lines.append(line.decode("utf-8", "replace"))
        return not said or any(line.startswith("{") for line in self.lines[-1:])

    def end(self, late):
        if late and self.pid is not None:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except OSError:
                pass
        os.close(self.pipe)
        return self.lines, "a signal"


class Interpreter:
    """A new interpreter for one module."""

    def __init__(self, name):
        command = [sys.executable, __file__, sys.argv[1], name]
        devnull = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=devnull, stdout=subprocess.PIPE, stderr=devnull)
        self.pipe, self.control, self.said = self.process.stdout.fileno(), None, b""

    def read(self):
        said = os.read(self.pipe, 1 << 16)
        self.said += said
        # What it has started may hold the pipe for long.
        return not said or self.said.endswith(b"}\n")

    def end(self, late):
        if late:
            self.process.kill()
        status = self.process.wait()
        self.process.stdout.close()
        return self.said.decode("utf-8", "replace").splitlines(), status


def base(tree):
    """The process that all copies come from."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        near.close()
        silence()
        serve(far, tree)
    far.close()
    return near


def first_need(name, roots, packages):
    """The package that the first import of the tree in a module without package needs; None where
    something else stands before it."""
    import ast

    files = [os.path.join(root, *name.split(".")) + end for root in roots for end in (".py", "/__init__.py")]
    try:
        with open(next(filter(os.path.isfile, files)), "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError, StopIteration):
        return None
    own = {package.partition(".")[0] for package in packages}
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Constant, getattr(ast, "Str", ast.Constant))):
            continue
        if isinstance(statement, ast.Import):
            targets = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            targets = [statement.module]
        else:
            return None
        for target in targets:
            if target.partition(".")[0] in own:
                return above(target + ".", packages)
    return None


def above(name, packages):
    """The innermost of the packages around a name."""
    while "." in name:
        name = name.rpartition(".")[0]
        if name in packages:
            return name
    return None


class Run:
    """All modules on their way to a result."""

    def __init__(self, task, tree):
        self.task, self.tree = task, tree
        self.results, self.running = {}, []
        self.packages = {above_all for name in task["modules"] for above_all in prefixes(name)} & set(task["modules"])
        # By (package, kind): the socket of a process that has imported it; None where there is none.
        self.servers = {}
        linux = sys.platform.startswith("linux")
        kind = CLEAN if linux else NEW
        if linux:
            self.servers[None, CLEAN] = base(tree)
        changed = set(task["changed"])
        others = sum(name not in changed for name in task["modules"])
        shared = kind if others < MANY or not linux else SHARED
        self.waiting = [(name, kind if name in changed else shared) for name in task["modules"]]
        # Whose result counts: a package may be imported for its modules in one way, and for itself in another.
        self.own = set(self.waiting)
        self.needs, self.users = {}, {}
        for name, kind in self.waiting:
            self.use(name, kind, 1)
        self.report = open(os.environ["COALESCE_VERIFY_REPORT"], "w", encoding="utf-8")

    def all(self):
        compile_all(self.tree)
        if any(kind == SHARED for _, kind in self.waiting):
            self.prepare()
        while self.waiting or self.running:
            self.fill()
            ready = self.ready()
            left = []
            for job, what, kind, until in self.running:
                late = time.monotonic() > until
                if (job.pipe in ready and job.read()) or late:
                    self.done(job, what, kind, job.end(late), late)
                else:
                    left.append((job, what, kind, until))
            self.running = left
        self.report.close()

    def ready(self):
        """The pipes on which something was said."""
        if sys.platform == "win32":
            # What was said is short enough to wait in the pipe.
            time.sleep(0.02)
            return [job.pipe for job, _, _, _ in self.running if job.process.poll() is not None]
        import select

        return select.select([job.pipe for job, _, _, _ in self.running], [], [], 0.1)[0]

    def fill(self):
        """Starts what can be started, in order. A package on its way holds its modules up."""
        for at, (name, kind) in list(enumerate(self.waiting)):
            if len(self.running) >= self.task["jobs"]:
                break
            if (name, kind) in self.servers or self.start(name, kind):
                self.waiting[at] = None
        self.waiting = [entry for entry in self.waiting if entry]

    def start(self, name, kind):
        """Whether it is under way now; otherwise what it needs is, or nothing more can be started."""
        if kind == NEW:
            self.add(Interpreter(name), name, NEW)
            return True
        server = self.server(self.need(name), kind)
        if server is None:
            return False
        serves = name in self.packages
        if serves:
            self.servers[name, kind] = "starts"
        self.add(Copy(server, {"do": "import", "name": name, "serves": serves}), name, kind)
        return True

    def add(self, job, what, kind):
        self.running.append((job, what, kind, time.monotonic() + self.task["seconds"]))

    def need(self, name):
        """The package to start from."""
        if name not in self.needs:
            need = above(name, self.packages)
            if need is None and name not in self.packages and sys.platform.startswith("linux"):
                need = first_need(name, self.task["roots"], self.packages)
            self.needs[name] = need
        return self.needs[name]

    def use(self, name, kind, by):
        """Counts who still wants copies of the packages around a module; those of nobody end."""
        package = self.need(name)
        while package is not None:
            left = self.users[package, kind] = self.users.get((package, kind), 0) + by
            server = self.servers.get((package, kind))
            if not left and isinstance(server, socket.socket):
                server.close()
                self.servers[package, kind] = None
            package = above(package, self.packages)

    def server(self, package, kind):
        """A process that has imported the package; None where one is yet to come."""
        while package is not None:
            if (package, kind) not in self.servers:
                if len(self.running) < self.task["jobs"]:
                    self.start(package, kind)
                return None
            server = self.servers[package, kind]
            if server == "starts":
                return None
            if server is not None:
                return server
            package = above(package, self.packages)
        return self.servers.get((None, kind))

    def prepare(self):
        """Asks for the process that has imported what the tree needs from elsewhere."""
        self.servers[None, SHARED] = None
        if os.path.isfile(self.task["outside"]):
            request = {"do": "preload", "outside": self.task["outside"], "serves": True}
        else:
            request = {"do": "scout", "task": sys.argv[1], "serves": False}
        self.add(Copy(self.servers[None, CLEAN], request), request["do"], None)

    def done(self, job, what, kind, end, late):
        lines, status = end
        result = read_result(lines, status, late, self.task["seconds"])
        serves = result.pop("serves", False)
        if kind is None:
            self.prepared(job, what, lines, serves)
            return
        if (what, kind) in self.servers:
            wanted = serves and self.users.get((what, kind), 0)
            self.servers[what, kind] = job.control if wanted else None
        if what in self.results or (what, kind) not in self.own:
            return
        if kind != NEW and result["error"] not in BELIEVED:
            # It may fail because it is a copy.
            self.waiting.insert(0, (what, NEW))
            self.own.add((what, NEW))
            self.use(what, kind, -1)
            return
        self.results[what] = result
        if kind != NEW:
            self.use(what, kind, -1)
        self.report.write(json.dumps(dict(result, module=what)) + "\n")
        self.report.flush()

    def prepared(self, job, what, lines, serves):
        if what == "scout":
            with open(self.task["outside"], "w", encoding="utf-8") as file:
                file.write("\n".join(line for line in lines if not line.startswith("{")))
            self.prepare()
        elif serves:
            self.servers[None, SHARED] = job.control
        else:
            late = [name for name, kind in self.waiting if kind == SHARED]
            self.waiting = [(name, CLEAN if kind == SHARED else kind) for name, kind in self.waiting]
            self.own.update(self.waiting)
            for name in late:
                self.use(name, CLEAN, 1)


def prefixes(name):
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def compile_all(tree):
    """Writes byte code that is told by the hash of its source, never by a time, so that each process
    need not compile the tree again and none can take what is stale."""
    import importlib.util
    import py_compile

    if not getattr(sys, "pycache_prefix", None):
        return
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


def read_result(lines, status, late, seconds):
    try:
        return json.loads(lines[-1])
    except (IndexError, ValueError):
        if late:
            return {"error": "TimeLimit", "message": "it took longer than %s s" % seconds, "places": []}
        return {"error": "Killed", "message": "its process ended with %s" % status, "places": []}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    tree = os.path.realpath(task["tree"])
    sys.path[:] = task["roots"] + sys.path[1:]
    PLACES.update((name, place) for place, name in enumerate(task["modules"]))
    if len(sys.argv) > 2:
        name, sys.argv = sys.argv[2], [""]
        keep = os.dup(1)
        silence()
        say(keep, json.dumps(import_one(name, tree)))
        os._exit(0)
    Run(task, tree).all()


main()
