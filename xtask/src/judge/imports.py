"""Imports each module in a process of its own, and prints what came of it and which names it has as JSON.

Standard input: {"roots": […], "modules": […], "preload": […], "old": "pkg.old" or null, "seconds": 60,
"probes": {"pkg.a": ["name", …], …}}; a probe is a name that is asked for whether it is listed or not.
`names.py` stands before this text.

`import a.b.c` is `import a`, then `a.b`, then `a.b.c`. So the process that has imported a package is
forked for what is below it, and no package is imported once for each of its modules; where the package
cannot be imported, nothing below it can, and all of it gets its error. What is forked
finds each file compiled: else most of the time would go into compiling the same file for each importer.
"""
import importlib.machinery
import select


def compile_once(roots):
    """Compiles every file below `roots`, and lets imports take the code by path and bytes."""
    compiled = {}
    plain = importlib.machinery.SourceFileLoader.source_to_code

    def source_to_code(self, data, path, **options):
        known = compiled.get((path, bytes(data))) if not options else None
        return known or plain(self, data, path, **options)

    for root in roots:
        for folder, _, files in os.walk(root):
            for file in files:
                path = os.path.join(folder, file)
                if file.endswith(".py"):
                    try:
                        with open(path, "rb") as source:
                            data = source.read()
                        compiled[path, data] = compile(data, path, "exec", dont_inherit=True)
                    except (OSError, SyntaxError, ValueError):
                        pass  # Its import says so.
    importlib.machinery.SourceFileLoader.source_to_code = source_to_code


def imported(name, old):
    """Runs in the child: what came of the import."""
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
    return {"error": error, "external": loaded, "warned": warned, "warnings": heard(told)}


def visit(name, below, asked, writer):
    """Imports a module in a child, which goes on with what is below it. Where the import fails, whoever
    imports something below it runs into the same: the package comes first. Where the child ends without an
    answer, those begin from here."""
    child = os.fork()
    if child == 0:
        answer = imported(name, asked["old"])
        works = answer["error"] is None
        for each in [name] if works else [name, *all_below(name, below)]:
            tell(["import", each, answer], writer)
        if works:
            tell_names(name, asked["probes"].get(name, ()), asked["seconds"] // 2, writer)
            visit_all(below.get(name, ()), below, asked, writer)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        visit_all(below.get(name, ()), below, asked, writer)


def all_below(name, below):
    """Every module below a package, in the order of their names."""
    for each in below.get(name, ()):
        yield each
        yield from all_below(each, below)


def visit_all(names, below, asked, writer):
    for name in names:
        visit(name, below, asked, writer)


def group(roots, below, asked):
    """The answers of some modules and what is below them; those that come without one are left out."""
    reader, writer = os.pipe()
    leader = os.fork()
    if leader == 0:
        os.close(reader)
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        visit_all(roots, below, asked, writer)
        os._exit(0)
    os.close(writer)
    parts = []
    while True:
        ready, _, _ = select.select([reader], [], [], asked["seconds"])
        part = os.read(reader, 65536) if ready else None
        if not part:
            break
        parts.append(part)
    os.close(reader)
    for end in (os.killpg, os.kill):
        try:
            end(leader, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os.waitpid(leader, 0)
    answers = {}
    for kind, name, answer in map(json.loads, b"".join(parts).split(b"\n")[:-1]):
        # What was begun twice, after its process had ended, counts by its last answer.
        answers.setdefault(name, {})[kind] = answer
    return {name: answer for name, answer in answers.items() if "import" in answer}


def main():
    wanted = json.load(sys.stdin)
    for name in wanted["preload"]:
        try:
            __import__(name)
        except BaseException:
            pass
    compile_once(wanted["roots"])
    modules = set(wanted["modules"])
    roots, below = [], {}
    for name in sorted(modules):
        parent = name.rpartition(".")[0]
        (below.setdefault(parent, []) if parent in modules else roots).append(name)
    answers = group(roots, below, wanted)
    for name in wanted["modules"]:
        if name not in answers:
            # Another one may have ended all of them: each gets a process from the beginning.
            alone = group([name], {}, wanted)
            error = "it ended, or took too long, without an answer"
            silent = {"error": error, "external": [], "warned": False, "warnings": []}
            answers[name] = alone.get(name, {"import": silent})
    json.dump(answers, sys.stdout)


main()
