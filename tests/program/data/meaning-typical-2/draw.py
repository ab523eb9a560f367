"""The rule by which the changes of these trees were drawn, written before any tree and any run.

    python3 draw.py            compares the drawn changes with those of the texts beside this file
    python3 draw.py --write    writes them below the files of each text

A text holds one tree, the files and checks that all its changes share, then five changes: two module moves, two item
moves, and one replace or merge where the tree has one. The generator of a tree is seeded with its name; all changes of
all trees are counted in ORDER, and each third one is asked for with a shim. The same change twice is drawn again;
nothing is left out for being hard, silly or impossible.

- Source: Python files below the root that the text names (`.`, `src`, `lib`), in the packages that it names. Tests,
  documents, `conftest.py`, `setup.py` and programs beside the packages are neither source nor destination, and no more
  is a `__main__` or the `__init__` of the first package.
- Modules: every module, packages included. One in three is a rename (the last name gets `_impl` behind it, or `_` before
  it). The others go below another package of the tree, or, one choice among them, below `_internal` of the first package,
  which need not be there. Where the name is taken it is drawn again.
- Items: every function, class and constant at module level or in an `if` or `try` there, dunder names excepted, of all modules
  with the `__init__` of the first package. One in five is a rename (`_impl` behind it, `new_` before it for a function); the
  others go to another module, packages included. Where the destination has the name, it is drawn again.
- Replaces: ordered pairs of equal functions or classes of one name in two modules (compared as syntax, without docstrings).
  Merges: ordered pairs of modules of one package that are no packages, and whose common names are equal definitions. Where
  there are both, a coin.
- What is offered (`public` in the text, else `__all__` of the first package), less the names that go or come, is looked up before and
  after. With a shim, one check more is run: the old name leads to the same as before.
"""

import ast
import itertools
import posixpath
import random
import sys
from pathlib import Path

SEED = 20261124

ORDER = [
    "transformers",
    "torchmetrics",
    "einops",
    "numba",
    "array-api-compat",
    "opt-einsum",
    "timm",
    "napari",
    "optuna",
    "gpustat",
    "dask",
    "langchain-core",
    "pydantic",
    "pytest",
    "opentelemetry-sdk",
    "mkdocs",
    "psutil",
    "more-itertools",
    "virtualenv",
    "sqlalchemy",
    "jsonschema",
    "aiohttp",
]


def read(path):
    """The shared part of a text, its files, the root and the packages, and the calls below."""
    text = path.read_text()
    shared, *changes = text.split("\n=== ")
    files, name, settings = {}, None, {}
    for line in shared.splitlines():
        if line.startswith("### "):
            name = line[4:].strip()
            files[name] = []
        elif name is not None:
            files[name].append(line)
        elif line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            settings[key] = value.split()
    files = {name: "\n".join(lines) + "\n" for name, lines in files.items()}
    return shared.rstrip("\n") + "\n", files, settings, changes


def list_modules(files, settings):
    """Each module of the packages: its name, whether it is a package, its text (none for a namespace folder)."""
    root, modules = settings["root"][0], {}
    prefix = "" if root == "." else root + "/"
    for path, text in sorted(files.items()):
        if not path.startswith(prefix) or not path.endswith(".py"):
            continue
        parts = path[len(prefix) : -3].split("/")
        is_package = parts[-1] == "__init__"
        parts = parts[:-1] if is_package else parts
        is_test = "tests" in parts or parts[-1:] and parts[-1].startswith("test_")
        if not is_test and ".".join(parts[: len(settings["packages"][0].split("."))]) in settings["packages"]:
            modules[".".join(parts)] = (is_package, text)
    for name in list(modules):
        while "." in name:
            name = name.rpartition(".")[0]
            if any(name == one or name.startswith(one + ".") for one in settings["packages"]):
                modules.setdefault(name, (True, None))
    return modules


def list_items(text):
    """Names that are defined at module level, with what they are."""
    items = {}

    def visit(body):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                items[node.name] = node
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                items[node.targets[0].id] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                items[node.target.id] = node
            elif isinstance(node, ast.If):
                visit(node.body + node.orelse)
            elif isinstance(node, ast.Try):
                visit(node.body + [one for handler in node.handlers for one in handler.body])
                visit(node.orelse + node.finalbody)

    visit(ast.parse(text).body)
    return {name: node for name, node in items.items() if not name.startswith("__")}


def list_names(text):
    """Every name that a module binds or mentions in any way: no item goes where its name is one of these."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def shape(node):
    """A definition as syntax, without its docstring."""
    body = list(getattr(node, "body", []))
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    rest = [ast.dump(one) for one in body]
    head = [ast.dump(one) for one in getattr(node, "decorator_list", []) + getattr(node, "bases", [])]
    arguments = ast.dump(node.args) if hasattr(node, "args") else ""
    return type(node).__name__, arguments, head, rest or ast.dump(node)


def draw_module(rng, modules, first):
    name = rng.choice([one for one in sorted(modules) if one != first and not one.endswith(".__main__")])
    last = name.rpartition(".")[2]
    if rng.random() < 1 / 3:
        new = name.rpartition(".")[0] + "." + rng.choice([last + "_impl", "_" + last])
    else:
        packages = [one for one, (is_package, _) in sorted(modules.items()) if is_package]
        packages = [
            one for one in packages if one != name.rpartition(".")[0] and not (one + ".").startswith(name + ".")
        ]
        new = rng.choice(packages + [first + "._internal"]) + "." + last
    taken = (
        new in modules
        or new.rpartition(".")[0] in modules
        and last in list_names(modules[new.rpartition(".")[0]][1] or "")
    )
    return None if taken else ("move", name, new, [])


def draw_item(rng, modules):
    items = [
        (module, item, node)
        for module, (_, text) in sorted(modules.items())
        if text
        for item, node in list_items(text).items()
    ]
    items = [one for one in items if not one[0].endswith(".__main__")]
    module, item, node = rng.choice(items)
    if rng.random() < 1 / 5:
        place, new = module, rng.choice([item + "_impl", "new_" + item])
    else:
        places = [
            one
            for one, (_, text) in sorted(modules.items())
            if text is not None and one != module and not one.endswith(".__main__")
        ]
        place, new = rng.choice(places), item
    if new in list_names(modules[place][1]):
        return None
    return "move", f"{module}.{item}", f"{place}.{new}", ["--kind", "item"]


def draw_other(rng, modules):
    plain = {
        name: list_items(text)
        for name, (is_package, text) in sorted(modules.items())
        if text and not name.endswith(".__main__")
    }
    replaces, merges = [], []
    for one, other in itertools.permutations(plain, 2):
        common = [name for name in plain[one] if name in plain[other]]
        same = [name for name in common if shape(plain[one][name]) == shape(plain[other][name])]
        replaces += [
            ("replace", f"{one}.{name}", f"{other}.{name}", ["--kind", "item"])
            for name in same
            if isinstance(plain[one][name], (ast.FunctionDef, ast.ClassDef))
        ]
        together = one.rpartition(".")[0] == other.rpartition(".")[0] and not modules[one][0] and not modules[other][0]
        if together and same == common:
            merges.append(("merge", one, other, []))
    if replaces and (not merges or rng.random() < 0.5):
        return rng.choice(replaces)
    return rng.choice(merges) if merges else None


def draw(name, files, settings):
    """The calls and, for those with a shim, what the old name leads to."""
    rng = random.Random(f"{SEED}-{name}")
    modules, first = list_modules(files, settings), settings["packages"][0]
    drawn = []
    while len(drawn) < 4:
        one = draw_module(rng, modules, first) if len(drawn) < 2 else draw_item(rng, modules)
        if one is not None and one not in drawn:
            drawn.append(one)
    other = draw_other(rng, modules)
    drawn += [other] if other is not None else []
    root, changes = settings["root"][0], []
    for at, (verb, old, new, more) in enumerate(drawn):
        shim = (ORDER.index(name) * 5 + at) % 3 == 2
        lines = [f"{name}-{at + 1}", " ".join(["@" + verb, old, new, *more, *["--shim"] * shim])]
        offered = str(settings["public"]) if "public" in settings else "top.__all__"
        within = lambda name: name.rpartition(".")[0] == first
        other = [name.rpartition(".")[2] for name in [old] * (not shim) + [new] if within(name)]
        program = f"import {first} as top; print([(one, type(getattr(top, one)).__name__) for one in sorted({offered}) if one not in {other}])"
        lines.append(f'@check PYTHONPATH={root} python3 -W ignore -c "{program}"')
        if shim:
            module, _, item = old.rpartition(".")
            program = f"import {old} as old; print(old.__name__)"
            if "item" in more:
                program = f"from {module} import {item} as old; print(type(old), getattr(old, '__doc__', ''))"
            elif verb == "merge" or not modules[old][0]:
                names = sorted(one for one in list_items(modules[old][1] or "") if not one.startswith("_"))
                program = f"import {old} as old; print([type(getattr(old, name)).__name__ for name in {names}])"
            lines.append(f'@check PYTHONPATH={root} python3 -W ignore -c "{program}"')
        changes.append("\n".join(lines) + "\n")
    return changes


def main():
    differs = False
    for name in ORDER:
        path = Path(__file__).parent / f"{name}.cases"
        shared, files, settings, changes = read(path)
        drawn = draw(name, files, settings)
        if "--write" in sys.argv:
            path.write_text(shared + "".join("=== " + one for one in drawn))
        elif [one.rstrip("\n") for one in changes] != [one.rstrip("\n") for one in drawn]:
            differs = True
            print(f"{name}: drawn {drawn}")
    sys.exit(differs)


if __name__ == "__main__":
    main()
