"""Imports modules, each in a new interpreter, and reports what each import leaves behind.

Arguments: a file with {"tree", "roots", "own": names at the top, "asked": [{"module",
"then_outside", "then"}], "names": {name: its name before}, "watched": files whose own code is looked at,
"subclasses", "seconds", "jobs", "report", "details"}; for an interpreter that imports, the number of its
question. What a module comes to is written to a file of `details` that is called by its digest, once; the
report, a JSON line a question, names digests only.

After the import of a module, those of `then_outside` and `then` are imported that it has not loaded, and come
under `later`: what one of the two trees loads and the other does not is compared as well.
"""

import json
import os
import subprocess
import sys
import time

# What the interpreter writes into a module, which its file does not say.
NOT_OWN = {
    "__annotations__", "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__",
    "__package__", "__path__", "__spec__", "__warningregistry__", "__annotate__", "__conditional_annotations__",
}
# The same of a class.
NOT_OWN_OF_CLASS = {
    "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__", "__dict__", "__doc__",
    "__firstlineno__", "__module__", "__qualname__", "__static_attributes__", "__weakref__", "_abc_impl",
}
# What reaches out of the process. Reading does not.
OUTSIDE = (
    "ctypes.", "ftplib.", "http.client.", "imaplib.", "nntplib.", "os.chmod", "os.chown", "os.exec", "os.fork",
    "os.kill", "os.link", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir",
    "os.setxattr", "os.spawn", "os.startfile", "os.symlink", "os.system", "os.truncate", "os.unsetenv", "os.utime",
    "poplib.", "shutil.", "signal.", "smtplib.", "socket.", "sqlite3.connect", "subprocess.", "syslog.",
    "tempfile.", "urllib.", "webbrowser.", "winreg.",
)
DEEPEST = 12
MOST = 200000


class TooMuch(Exception):
    """A value of more parts than are compared."""


class Untold(Exception):
    """A value that keeps something in compiled code, of which nothing is known."""


# Classes of compiled code whose instances keep nothing that changes, or nothing that anybody asks for.
KEEPING_NOTHING = {
    "builtins.object", "builtins.PyCapsule", "builtins.code", "builtins.property", "builtins.type",
    "builtins.getset_descriptor", "builtins.member_descriptor", "builtins.method-wrapper",
    "builtins.classmethod_descriptor", "types.GenericAlias", "types.UnionType", "typing.Union", "typing.TypeVar",
    "typing.ParamSpec", "typing.TypeVarTuple", "typing.TypeAliasType", "typing.Generic", "typing.NoDefaultType",
    "_thread.lock", "_thread.RLock", "_thread._local", "weakref.ReferenceType", "weakref.ProxyType",
    "weakref.CallableProxyType", "_io.TextIOWrapper", "_io.FileIO", "_io.BufferedReader", "_io.BufferedWriter",
    "_io._IOBase", "_io._RawIOBase", "_io._BufferedIOBase", "_io._TextIOBase", "builtins.NoneType",
    "_struct.Struct", "_abc._abc_data", "_collections._tuplegetter", "collections._tuplegetter", "operator.itemgetter", "operator.attrgetter", "operator.methodcaller",
    "re.Pattern", "types.SimpleNamespace", "builtins.int", "builtins.str", "builtins.float", "builtins.bytes",
}
# How others are asked for what they keep.
TELLING = {
    "_random.Random": lambda value: value.getstate(),
    "_io.StringIO": lambda value: value.getvalue(),
    "_io.BytesIO": lambda value: value.getvalue(),
    "_contextvars.ContextVar": lambda value: value.get(None),
    "builtins.bytearray": lambda value: bytes(value),
    "builtins.range": lambda value: repr(value),
    "builtins.slice": lambda value: repr(value),
    "array.array": lambda value: repr(value),
    "itertools.count": lambda value: repr(value),
    "functools.partial": lambda value: [value.func, value.args, value.keywords],
    "functools._lru_cache_wrapper": lambda value: [tuple(value.cache_info()), getattr(value, "__wrapped__", None)],
}


def is_text(kind):
    """Whether a class is one of a text of Python, whose instances keep what they have where anybody can see it."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    known = "%s.%s" % (kind.__module__, kind.__qualname__)
    return isinstance(file, str) and file.endswith(".py") and known not in KEEPING_NOTHING and known not in TELLING


class Describer:
    """Says what a value is, in words that are the same in every process."""

    def __init__(self, names, shallow=False):
        self.names, self.shallow = names, shallow
        self.open, self.count = set(), 0

    def name(self, name):
        """The name that it had before."""
        head, tail = name, ""
        while head:
            if head in self.names:
                return self.names[head] + tail
            head, _, last = head.rpartition(".")
            tail = "." + last + tail
        return name

    def text(self, text):
        """A text; one that is a name is the name before."""
        if "." in text and len(text) < 500 and all(part.isidentifier() for part in text.split(".")):
            text = self.name(text)
        return text

    def of(self, value, depth=0):
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, bytes, type(Ellipsis), type(NotImplemented)):
            return "%s %r" % (kind.__name__, value)
        if kind is str:
            return "str %r" % self.text(value)
        self.count += 1
        if self.count > MOST or depth > DEEPEST:
            raise TooMuch
        if id(value) in self.open:
            return "itself"
        self.open.add(id(value))
        try:
            return self.compound(value, kind, depth + 1)
        finally:
            self.open.discard(id(value))

    def full(self, value):
        module = getattr(value, "__module__", None)
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
        return self.name("%s.%s" % (module, name)) if isinstance(module, str) else str(name)

    def compound(self, value, kind, depth):
        import types

        if isinstance(value, types.ModuleType):
            return "module " + self.name(value.__name__)
        if isinstance(value, type):
            return "class " + self.full(value)
        if kind is types.FunctionType:
            return self.function(value, depth)
        if kind in (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType):
            owner = getattr(value, "__self__", None)
            whose = "" if owner is None or isinstance(owner, types.ModuleType) else self.of(owner, depth)
            return "builtin %s of %s" % (self.full(value), whose)
        if kind is types.MethodType:
            return "method %s of %s" % (self.full(value), self.of(value.__self__, depth))
        if kind in (staticmethod, classmethod):
            return "%s %s" % (kind.__name__, self.of(value.__func__, depth))
        if kind is property:
            return "property %s" % [self.of(one, depth) for one in (value.fget, value.fset, value.fdel)]
        if isinstance(value, (list, tuple)) or kind.__name__ == "deque":
            return "%s [%s]%s" % (self.full(kind), ", ".join(self.of(one, depth) for one in value), self.rest(value, depth))
        if isinstance(value, (set, frozenset)):
            return "%s {%s}" % (self.full(kind), ", ".join(sorted(self.of(one, depth) for one in value)))
        if isinstance(value, (dict, types.MappingProxyType)):
            pairs = ["%s: %s" % (self.of(key, depth), self.of(one, depth)) for key, one in list(value.items())]
            return "%s {%s}%s" % (self.full(kind), ", ".join(pairs), self.rest(value, depth))
        return self.instance(value, kind, depth)

    def function(self, value, depth):
        parts = ["function " + self.full(value), repr(value.__code__.co_varnames[:value.__code__.co_argcount])]
        if self.shallow:
            return parts[0]
        for more in (value.__defaults__, value.__kwdefaults__, value.__dict__):
            if more:
                parts.append(self.of(more, depth))
        for cell in value.__closure__ or ():
            try:
                parts.append(self.of(cell.cell_contents, depth))
            except ValueError:
                parts.append("empty")
        return " ".join(parts)

    def rest(self, value, depth):
        own = getattr(value, "__dict__", None)
        return " with " + self.of(own, depth) if own and isinstance(own, dict) else ""

    def instance(self, value, kind, depth):
        parts = ["instance of " + self.full(kind)]
        module = kind.__module__
        if module in ("re", "datetime", "decimal", "fractions", "pathlib", "uuid", "builtins", "typing", "zoneinfo"):
            if module == "typing":
                import re

                return "typing " + re.sub(r"[\w.]+", lambda found: self.name(found.group()), repr(value))
            if kind.__repr__ is not object.__repr__ and kind.__name__ not in ("code", "frame", "generator", "coroutine"):
                text = repr(value)
                if " at 0x" not in text:
                    parts.append(text)
                    return " ".join(parts)
        parts.extend(self.compiled_parts(value, kind, depth))
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict):
            parts.append(self.of(own, depth))
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for slot in [slots] if isinstance(slots, str) else list(slots):
                if slot in ("__dict__", "__weakref__"):
                    continue
                if slot.startswith("__") and not slot.endswith("__"):
                    slot = "_%s%s" % (base.__name__.lstrip("_"), slot)
                try:
                    parts.append("%s=%s" % (slot, self.of(object.__getattribute__(value, slot), depth)))
                except AttributeError:
                    parts.append(slot + " unset")
        registry = getattr(kind, "registry", None)
        if isinstance(registry, dict):
            parts.append(self.of(registry, depth))
        return " ".join(parts)

    def compiled_parts(self, value, kind, depth):
        """What a value keeps in compiled code, by each of its classes that is no text."""
        if kind.__module__.partition(".")[0] == "numpy":
            yield numpy_value(value)
            return
        for base in kind.__mro__:
            name = "%s.%s" % (base.__module__, base.__qualname__)
            if is_text(base) or name in KEEPING_NOTHING:
                continue
            if name in TELLING:
                yield self.of(TELLING[name](value), depth)
                return
            if issubclass(base, BaseException):
                yield self.of(value.args, depth)
                return
            top = name.partition(".")[0]
            if top in STATE["used"] or top in getattr(sys, "stdlib_module_names", (top,)) or STATE["own"](top):
                raise Untold(name)
            # Nobody that is watched has to do with that library.
            yield "what %s keeps" % name
            return

    def body_of_class(self, value):
        """What a class is made of."""
        import abc

        parts = ["bases %s" % [self.full(base) for base in value.__mro__]]
        for name, member in sorted(value.__dict__.items()):
            if name not in NOT_OWN_OF_CLASS:
                parts.append("%s=%s" % (name, "class " + self.full(member) if isinstance(member, type) else self.of(member, 1)))
        if isinstance(value, abc.ABCMeta):
            registered, _, _, _ = abc._get_dump(value)
            parts.append("registered %s" % sorted(self.full(one()) for one in registered if one() is not None))
        return " ".join(parts)


def numpy_value(value):
    if hasattr(value, "bit_generator") or hasattr(value, "get_state"):
        # Where nobody has given it a seed, it is another one each time.
        if "numpy" not in STATE["used"]:
            return "a generator of numbers"
        raise Untold("a generator of numbers")
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        try:
            return "%s %s %r" % (value.dtype, getattr(value, "shape", ""), digest_of(value.tobytes()))
        except Exception:
            return "bytes unknown"
    return repr(value) if " at 0x" not in repr(value) else ""


def digest_of(data):
    import hashlib

    return hashlib.sha256(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def own_names(module, names, subclasses):
    """Each name of a module of the tree and what it is; a letter tells those that are modules."""
    found = {}
    for name, value in list(vars(module).items()):
        if name in NOT_OWN:
            continue
        found[name] = described(value, names, getattr(module, "__name__", ""), subclasses)
    return found


def described(value, names, home, subclasses):
    import types

    describer = Describer(names)
    try:
        text = describer.of(value)
        if isinstance(value, type) and value.__module__ == home:
            text += " " + describer.body_of_class(value)
            if subclasses:
                text += " subclasses %s" % [describer.full(one) for one in type.__subclasses__(value)]
    except (TooMuch, RecursionError):
        # Never the same as another one.
        text = "too much %s %s" % (os.getpid(), time.time())
    except Exception as error:
        text = "not told %s %s %s" % (type(error).__name__, os.getpid(), time.time())
    mark = "module " if isinstance(value, types.ModuleType) else ""
    return mark + digest_of(text)


def outer_names(module, names, is_standard):
    """The same of a module from outside, all in one: of the standard library its functions and classes alone."""
    import types

    parts = []
    for name, value in sorted(vars(module).items()):
        if name in NOT_OWN or (name.endswith("cache") or name.endswith("cache_")):
            continue
        describer = Describer(names, shallow=True)
        try:
            if isinstance(value, type):
                members = sorted(value.__dict__.items())
                own = value.__module__ == module.__name__
                members = ["%s=%s" % (key, what(one, describer)) for key, one in members if own and key not in NOT_OWN_OF_CLASS]
                parts.append("%s: class %s %s" % (name, describer.full(value), members))
            elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
                parts.append("%s: %s" % (name, what(value, describer)))
            elif not is_standard:
                parts.append("%s: %s" % (name, describer.of(value)))
        except Untold as error:
            # Of another library: whoever uses what is compiled is told already.
            parts.append("%s: keeps what nobody can tell, %s" % (name, error))
        except (TooMuch, RecursionError):
            parts.append("%s: more than is compared, %s" % (name, type(value).__name__))
        except Exception:
            parts.append("%s: not told, %s" % (name, type(value).__name__))
    return parts


def what(value, describer):
    """A member of a class from outside."""
    import types

    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return type(value).__name__ + " " + describer.full(value)
    if isinstance(value, types.ModuleType):
        return "module " + describer.name(value.__name__)
    if isinstance(value, (bool, int, str, bytes, float, type(None))):
        return repr(value)
    if isinstance(value, (dict, list, set, tuple)):
        return describer.of(value)
    return type(value).__name__


def process(names):
    """What the whole process shares, by name."""
    import atexit
    import builtins
    import codecs
    import copyreg
    import gc
    import locale
    import logging
    import signal
    import socket
    import threading
    import warnings

    def told(value):
        return Describer(names).of(value)

    loggers = {}
    for name, logger in logging.Logger.manager.loggerDict.items():
        if isinstance(logger, logging.Logger) and (logger.handlers or logger.filters or logger.disabled or logger.level or not logger.propagate):
            loggers[name] = [logger.level, logger.disabled, logger.propagate, told(logger.handlers), told(logger.filters)]
    found = {
        "environment": dict(os.environ),
        "working directory": os.getcwd(),
        "search path": sys.path,
        "import hooks": [[told(one) for one in hooks] for hooks in (sys.meta_path, sys.path_hooks)],
        "streams": [type(one).__name__ for one in (sys.stdin, sys.stdout, sys.stderr)],
        "hooks": [told(one) for one in (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook, sys.gettrace())],
        "limits": [sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), gc.get_threshold(), socket.getdefaulttimeout()],
        "builtins": {name: told(value) for name, value in vars(builtins).items() if name not in NOT_OWN and name != "_"},
        "warning filters": [told(one) for one in warnings.filters],
        "logging": [told(logging.root.handlers), logging.root.level, logging.root.manager.disable, loggers,
                    told(logging.getLoggerClass()), told(logging.getLogRecordFactory()), dict(logging._levelToName)],
        "signals": {str(one): told(signal.getsignal(one)) for one in signal.valid_signals()},
        "locale": locale.setlocale(locale.LC_ALL),
        "exit handlers": atexit._ncallbacks(),
        "threads": threading.active_count(),
        "pickling": [told(copyreg.dispatch_table), told(copyreg._extension_registry)],
        "error handlers": told(codecs.lookup_error("strict")),
    }
    return dict(found, **libraries(names))


def libraries(names):
    """What libraries that are loaded keep for the whole process."""
    found = {}
    for name, ask in OF_LIBRARIES.items():
        if name in sys.modules:
            try:
                found[name] = ask(sys.modules[name], Describer(names).of)
            except Exception as error:
                found[name] = "not told %s %s" % (type(error).__name__, os.getpid())
    return found


OF_LIBRARIES = {
    # Its own generator is only the same where nobody drew from it or gave it a seed.
    "random": lambda random, told: "as it begins" if random.getstate() == STATE.get("random") else told(random.getstate()),
    "decimal": lambda decimal, told: repr(decimal.getcontext()),
    "csv": lambda csv, told: [sorted(csv.list_dialects()), csv.field_size_limit()],
    "mimetypes": lambda mimetypes, told: [mimetypes.inited, told(mimetypes.types_map)],
    "asyncio": lambda asyncio, told: told(getattr(sys.modules.get("asyncio.events"), "_event_loop_policy", None)),
    "multiprocessing": lambda one, told: str(getattr(one.context._default_context, "_actual_context", None)),
    "xml.etree.ElementTree": lambda one, told: told(one._namespace_map),
    "sqlite3": lambda one, told: [told(one.adapters), told(one.converters)],
    "numpy": lambda numpy, told: [told(numpy.geterr()), str(numpy.get_printoptions()), str(numpy.geterrcall())],
}
STATE = {}


class Watch:
    """Who runs while the files that are watched are executed, and what reaches out of the process."""

    def __init__(self, watched, tree):
        self.watched, self.tree = watched, tree
        self.modules, self.ran, self.called, self.outside = [], {}, set(), []
        self.over = False

    def audit(self, event, arguments):
        if self.over:
            return
        if event == "open":
            path, mode, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if writes and path != os.devnull:
                self.outside.append("writes %s" % (path,))
        elif event.startswith(OUTSIDE) and not event.startswith(("ctypes.dlsym", "ctypes.addressof", "socket.__new__", "socket.gethostname")):
            self.outside.append("%s %s" % (event, ascii(arguments)[:300] if event != "signal.default_int_handler" else ""))

    def profile(self, frame, event, argument):
        code = frame.f_code
        if event == "call":
            if code.co_name == "<module>":
                self.modules.append(code.co_filename)
            if self.modules and self.modules[-1] in self.watched:
                self.ran[id(code)] = (code, frame.f_globals)
        elif event == "return":
            if code.co_name == "<module>" and self.modules:
                self.modules.pop()
        elif event == "c_call" and self.modules and self.modules[-1] in self.watched:
            owner = getattr(argument, "__module__", None) or type(getattr(argument, "__self__", None)).__module__
            self.called.add(owner)

    def used(self):
        """The modules of all that the watched files name or call while they are executed."""
        modules = set(filter(None, self.called))
        for code, own in self.ran.values():
            modules.add(own.get("__name__") or "")
            names = set(all_names(code))
            known, open = set(), [own[name] for name in names if name in own]
            while open:
                value = open.pop()
                if id(value) in known:
                    continue
                known.add(id(value))
                if isinstance(value, type(sys)):
                    modules.add(value.__name__)
                    open.extend(vars(value)[name] for name in names if name in vars(value))
                else:
                    for of in (value, type(value)):
                        module = getattr(of, "__module__", None)
                        modules.update([module] if isinstance(module, str) else [])
        return modules

    def compiled(self):
        """Compiled libraries among those: what these keep to themselves nobody can compare."""
        return sorted({name for name in map(compiled_library, self.used()) if name})


def all_names(code):
    """The names that a code object reads, with those of the code within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from all_names(constant)


def compiled_library(name):
    """The library of a module, where it keeps something in compiled code."""
    if not isinstance(name, str):
        return None
    top = name.partition(".")[0]
    if name.startswith("numpy.random"):
        return "numpy.random"
    if top == "numpy" or top in getattr(sys, "stdlib_module_names", ()):
        return None
    if STATE["own"](top):
        file = getattr(sys.modules.get(name), "__file__", None)
        return name if isinstance(file, str) and not file.endswith(".py") else None
    for each, module in list(sys.modules.items()):
        if each == top or each.startswith(top + "."):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and file.endswith((".so", ".pyd", ".dylib")):
                return top
    return None


def answer(task, question, tree):
    """Imports one module, and says what that leaves behind."""
    import importlib
    import random
    import warnings

    STATE["random"] = random.getstate()
    known = set(sys.modules)
    watch = Watch(set(task["watched"]), tree)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(watch.audit)
    names = task["names"]
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        sys.setprofile(watch.profile)
        try:
            importlib.import_module(question["module"])
        except BaseException as error:
            return {"error": "%s: %s" % (type(error).__name__, error)}
        finally:
            sys.setprofile(None)
        watch.over = True
        STATE["used"] = {name.partition(".")[0] for name in watch.used()}
        STATE["own"] = set(task["own"]).__contains__
        shared = process(names)
        told = ["%s %s" % (one.category.__name__, words(str(one.message), names)) for one in raised]
        seen = Seen(task, tree, known)
        at_once = seen.new()
        failed = bring(question["then_outside"])
        outside = seen.new()
        shared_later = libraries(names)
        failed += bring(question["then"])
        later = seen.new()
    return {
        "error": None,
        "failed": failed,
        "process": digests(shared),
        "process_later": digests(shared_later),
        "told": told,
        "outside": [words(one, names) for one in watch.outside],
        "used": sorted(STATE["used"]),
        "compiled": watch.compiled(),
        "modules": at_once,
        "later": dict(outside, **later),
    }


def digests(parts):
    return {name: digest_of(json.dumps(value, sort_keys=True, default=str)) for name, value in parts.items()}


def bring(names):
    """Imports what is not loaded; what cannot be."""
    import importlib

    failed = []
    for name in names:
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except BaseException:
                failed.append(name)
    return failed


class Seen:
    """The modules of which was said what they come to."""

    def __init__(self, task, tree, known):
        self.task, self.tree = task, tree
        self.known = set(known) | {"__main__"}
        self.own = set(task["own"])

    def new(self):
        """What the others come to, by their names before: whether they are of the tree, and a digest."""
        found, names = {}, self.task["names"]
        was = set(names.values())
        for name, module in list(sys.modules.items()):
            if name in self.known or not hasattr(module, "__dict__"):
                continue
            self.known.add(name)
            top = name.partition(".")[0]
            if top in self.own:
                # What stands under a name that something else had is not that.
                called = "now " + name if name in was and name not in names else Describer(names).name(name)
                text = own_names(module, names, self.task["subclasses"])
                found[called] = {"own": True, "digest": keep(self.task, text)}
            else:
                standard = top in getattr(sys, "stdlib_module_names", ())
                found[name] = {"own": False, "digest": keep(self.task, outer_names(module, names, standard))}
        return found


def words(text, names):
    import re

    describer = Describer(names)
    return re.sub(r"[\w.]+", lambda found: describer.name(found.group()), text)


def keep(task, names):
    """Writes what a module comes to, once; its digest."""
    text = json.dumps(names, sort_keys=True)
    digest = digest_of(text)
    path = os.path.join(task["details"], digest)
    if not os.path.exists(path):
        with open(path + ".%s" % os.getpid(), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".%s" % os.getpid(), path)
    return digest


def run(task):
    """Asks every question, some at a time."""
    waiting = list(range(len(task["asked"])))
    running = []
    with open(task["report"], "w", encoding="utf-8") as report:
        while waiting or running:
            while waiting and len(running) < task["jobs"]:
                number = waiting.pop(0)
                command = [sys.executable, __file__, sys.argv[1], str(number)]
                nothing = subprocess.DEVNULL
                process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
                running.append((number, process, time.monotonic() + task["seconds"]))
            time.sleep(0.01)
            left = []
            for number, process, until in running:
                if process.poll() is None:
                    if time.monotonic() < until:
                        left.append((number, process, until))
                        continue
                    process.kill()
                    process.wait()
                report.write(json.dumps(dict(read(task, number), number=number)) + "\n")
                report.flush()
            running = left


def read(task, number):
    path = "%s.%s" % (task["report"], number)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        os.remove(path)
        return found
    except (OSError, ValueError):
        return {"error": "it ended, or took too long, without an answer"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    if len(sys.argv) < 3:
        run(task)
        return
    tree = os.path.realpath(task["tree"])
    sys.path[:] = task["roots"] + sys.path[1:]
    number, sys.argv = int(sys.argv[2]), [""]
    found = json.dumps(answer(task, task["asked"][number], tree))
    path = "%s.%s" % (task["report"], number)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(found)
    os.replace(path + ".part", path)
    os._exit(0)


main()
