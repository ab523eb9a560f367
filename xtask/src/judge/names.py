"""What the names of an imported module are: read in a process of its own, since reading may load more.

A name is [how, kind, what, warnings]: `how` is "own" where the module has it by itself, "imported" where a statement
of it imports that, "asked" where it gives it when it is asked for. `what` is module and qualified name of a class or a function, the name of a module, and
for anything else its type with what it holds, as far as that is plain.
"""
import ast
import itertools
import json
import os
import signal
import sys
import types
import warnings

# What every module has and what differs wherever it stands, what is said about it, and what its shim may write.
OF_ITS_PLACE = frozenset(
    "__file__ __cached__ __spec__ __loader__ __path__ __name__ __package__ __builtins__ __warningregistry__"
    " __doc__ __annotations__ __annotate__ __conditional_annotations__ __class__ __dict__".split()
)
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
# More is told by its length.
LEAVES = 2000
LENGTH = 300


def place_of(value):
    """`module:qualified name` of what says its own."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"{module if isinstance(module, str) else '?'}:{name if isinstance(name, str) else '?'}"


def kind_of(value):
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return "function"
    return "constant"


def written(value):
    """A value as text, where it is one of a few kinds; its kind with its place else."""
    if type(value) in PLAIN:
        return repr(value)[:LENGTH]
    kind = kind_of(value)
    if kind == "module":
        return f"module {value.__name__}"
    return f"{kind} {place_of(value if kind != 'constant' else type(value))}"


def leaves_of(value, depth=0):
    """What a container holds, in any order; a pair of a table is one leaf for each thing that it leads to."""
    if depth < 4 and type(value) in (list, tuple, set, frozenset):
        for each in value:
            yield from leaves_of(each, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for key, each in value.items():
            # What holds nothing is an entry, too.
            for leaf in list(leaves_of(each, depth + 1)) or ["nothing"]:
                yield f"{written(key)}: {leaf}"
    else:
        yield written(value)


def described(value):
    """(kind, what)."""
    kind = kind_of(value)
    if kind == "module":
        return kind, [value.__name__]
    if kind != "constant":
        return kind, [place_of(value)]
    type_name = place_of(type(value))
    if type(value) in PLAIN:
        return kind, [type_name, written(value)]
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        leaves = list(itertools.islice(leaves_of(value), LEAVES + 1))
        return kind, [type_name, *sorted(leaves)] if len(leaves) <= LEAVES else [type_name, str(len(value))]
    return kind, [type_name]


def heard(told):
    return sorted({f"{each.category.__name__}: {each.message}"[:LENGTH] for each in told})


def imported_by(module):
    """The names that import statements of a module bind, those of its functions and classes aside."""
    names, left = set(), []
    try:
        left.append(ast.parse(module.__spec__.loader.get_source(module.__name__)))
    except (AttributeError, ImportError, SyntaxError, TypeError, ValueError):
        return names  # It has no source: all of it counts as its own.
    while left:
        node = left.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(each.asname or each.name.partition(".")[0] for each in node.names)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            left.extend(ast.iter_child_nodes(node))
    return names


def name_of(module, name):
    """[kind, what, warnings] of a name, or None where the module has none."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            kind, what = described(getattr(module, name))
        except AttributeError:
            return None
        except BaseException as problem:  # What a module's own `__getattr__` raises may be anything.
            kind, what = "raises", [type(problem).__name__]
    return [kind, what, heard(told)]


def star_of(name):
    """What `from module import *` gives, or what it raises."""
    space = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            exec(f"from {name} import *", space)
        except BaseException as problem:
            return {"error": f"{type(problem).__name__}: {problem}"[:LENGTH]}
    return {"names": sorted(set(space) - OF_ITS_PLACE), "warnings": heard(told)}


def texts(value):
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple, set)) else []


def names_of(name, probes):
    """All names of a module that is imported, and those of `probes` that it has."""
    module = sys.modules[name]
    # Before anything is asked for: what is asked for may be bound then.
    own = list(vars(module))
    every = dict.fromkeys([*own, *texts(vars(module).get("__all__")), *probes])
    try:
        every.update(dict.fromkeys(texts(dir(module))))
    except BaseException:
        pass  # A `__dir__` of the tree; what it would have named is asked for by `__all__`.
    imported, found = imported_by(module), {}
    for each in every:
        if each not in OF_ITS_PLACE:
            one = name_of(module, each)
            how = "asked" if each not in own else "imported" if each in imported else "own"
            if one is not None:
                found[each] = [how, *one]
    return {"names": found, "star": star_of(name)}


def tell_names(name, probes, seconds, writer):
    """Reads the names in a child, which loads what it may, and is ended when it takes too long."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        answer = names_of(name, probes)
        signal.alarm(0)
        tell(["names", name, answer], writer)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
        tell(["names", name, {"late": True} if late else {"ended": status}], writer)


def tell(answer, writer):
    line = json.dumps(answer).encode() + b"\n"
    while line:
        line = line[os.write(writer, line):]
