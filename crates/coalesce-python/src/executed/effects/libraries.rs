//! What is known of other libraries and of what Python has itself.

use super::super::harmless::{is_quiet, is_quiet_method};
use crate::requirements::standard::is_standard;

/// Libraries whose values have operators that only compute, and that can be gone through.
const OF_VALUES: [&str; 9] = [
    "astropy",
    "jax",
    "jaxlib",
    "numpy",
    "pandas",
    "scipy",
    "sympy",
    "torch",
    "typing_extensions",
];

/// Libraries whose classes tell nobody of their subclasses, besides those of Python itself.
const PLAIN_BASES: [&str; 27] = [
    "attr",
    "attrs",
    "astropy",
    "cupy",
    "docutils",
    "h5py",
    "httpx",
    "jax",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "packaging",
    "pandas",
    "pydantic",
    "pydantic_settings",
    "pytest",
    "requests",
    "rich",
    "scipy",
    "setuptools",
    "sklearn",
    "sympy",
    "torch",
    "torchvision",
    "typing_extensions",
    "yaml",
];

/// What else of other libraries does nothing but give a value, by the beginnings of the names.
const PLAIN_CALLS: [&str; 89] = [
    "astropy.coordinates.",
    "astropy.time.Time",
    "astropy.units.",
    "codecs.lookup",
    "cupy.cuda.is_available",
    "cupy.cuda.runtime.getDeviceCount",
    "distutils.version.",
    "email.utils.",
    "functools.",
    "gettext.NullTranslations",
    "gettext.find",
    "gettext.gettext",
    "html.",
    "httpx.Limits",
    "httpx.Timeout",
    "httpx.URL",
    "importlib.metadata.",
    "importlib.resources.",
    "importlib.util.find_spec",
    "importlib_metadata.",
    "importlib_resources.",
    "io.BytesIO",
    "io.StringIO",
    "ipaddress.",
    "jax.jit",
    "jax.numpy.",
    "jax.vmap",
    "jax.custom_jvp",
    "jax.custom_vjp",
    "jax.tree_util.Partial",
    "json.JSONDecoder",
    "json.JSONEncoder",
    "json.load",
    "locale.getlocale",
    "locale.getpreferredencoding",
    "locale.localeconv",
    "logging.StreamHandler",
    "numba.cfunc",
    "numba.cuda.is_available",
    "numba.cuda.jit",
    "numba.guvectorize",
    "numba.jit",
    "numba.njit",
    "numba.stencil",
    "numba.typeof",
    "numba.types.",
    "numba.vectorize",
    "optparse.",
    "os.environ.get",
    "os.fsencode",
    "os.fsdecode",
    "os.getpid",
    "os.path.",
    "os.uname",
    "pandas.DataFrame",
    "pandas.Index",
    "pandas.Series",
    "pandas.Timedelta",
    "pandas.Timestamp",
    "pkgutil.extend_path",
    "pyparsing.",
    "pytest.approx",
    "pytest.fixture",
    "pytest.importorskip",
    "pytest.mark.",
    "pytest.param",
    "rich.style.Style",
    "rich.text.Text",
    "scipy.",
    "secrets.",
    "shutil.which",
    "ssl.SSLContext",
    "string.",
    "sympy.Symbol",
    "sympy.symbols",
    "sys.exc_info",
    "sys.getdefaultencoding",
    "sys.getfilesystemencoding",
    "sys.getrecursionlimit",
    "tempfile.gettempdir",
    "torch.cuda.device_count",
    "torch.cuda.is_available",
    "torch.device",
    "torch.finfo",
    "torch.no_grad",
    "torch.tensor",
    "unittest.mock.",
    "urllib.parse.",
    "warnings.deprecated",
];

/// Functions of quiet libraries that do more: they change what they are given, or the process.
const LOUD: [&str; 17] = [
    "typing.get_type_hints",
    "typing_extensions.get_type_hints",
    "decimal.getcontext",
    "decimal.setcontext",
    "functools.singledispatch.register",
    "pprint.pp",
    "pprint.pprint",
    "scipy.test",
    "threading.setprofile",
    "threading.settrace",
    "threading.stack_size",
    "threading.excepthook",
    "time.sleep",
    "time.tzset",
    "traceback.print",
    "unittest.mock.patch",
    "weakref.finalize",
];

/// Functions that change the first thing that they are given.
const CHANGING_FUNCTIONS: [&str; 14] = [
    "bisect.insort",
    "bisect.insort_left",
    "bisect.insort_right",
    "functools.update_wrapper",
    "heapq.heapify",
    "heapq.heappop",
    "heapq.heappush",
    "heapq.heappushpop",
    "heapq.heapreplace",
    "numpy.copyto",
    "numpy.fill_diagonal",
    "numpy.place",
    "numpy.put",
    "numpy.putmask",
];

/// Functions that call what they are given.
const CALLING: [&str; 17] = [
    "accumulate",
    "apply_along_axis",
    "filter",
    "filterfalse",
    "fromfunction",
    "groupby",
    "map",
    "max",
    "min",
    "reduce",
    "sort",
    "sorted",
    "starmap",
    "sub",
    "subn",
    "takewhile",
    "dropwhile",
];

/// Methods that change what they belong to.
const CHANGING_METHODS: [&str; 38] = [
    "add",
    "addFilter",
    "addHandler",
    "add_argument",
    "add_argument_group",
    "add_mutually_exclusive_group",
    "add_parser",
    "add_subparsers",
    "append",
    "appendleft",
    "clear",
    "difference_update",
    "discard",
    "extend",
    "extendleft",
    "fill",
    "insert",
    "intersection_update",
    "move_to_end",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "removeHandler",
    "reverse",
    "rotate",
    "setFormatter",
    "setLevel",
    "set_defaults",
    "setdefault",
    "setflags",
    "sort",
    "symmetric_difference_update",
    "update",
    "write",
    "writelines",
    "__setitem__",
    "__delitem__",
];

/// More methods that change and read nothing but what they belong to.
const PLAIN_METHODS: [&str; 42] = [
    "_asdict",
    "_replace",
    "as_integer_ratio",
    "capitalize",
    "casefold",
    "center",
    "close",
    "conjugate",
    "cumsum",
    "date",
    "debug",
    "dot",
    "expandtabs",
    "exists",
    "flatten",
    "fromisoformat",
    "getvalue",
    "group",
    "groups",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isEnabledFor",
    "isnumeric",
    "isoformat",
    "isspace",
    "issubset",
    "issuperset",
    "is_dir",
    "is_file",
    "ljust",
    "max",
    "read",
    "read_text",
    "readline",
    "readlines",
    "rfind",
    "rindex",
    "rjust",
    "sub",
    "swapcase",
    "view",
];

/// What holds objects, and runs nothing of them.
const HOLDING: [&str; 17] = [
    "attr.",
    "attrs.",
    "contextlib.",
    "contextvars.",
    "dataclasses.field",
    "enum.",
    "functools.",
    "itertools.",
    "logging.getLogger",
    "pydantic.Field",
    "pydantic.PrivateAttr",
    "threading.Thread",
    "types.",
    "typing.",
    "typing_extensions.",
    "warnings.deprecated",
    "weakref.ref",
];

fn begins(name: &str, list: &[&str]) -> bool {
    list.iter().any(|start| name.starts_with(start))
}

fn library(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Whether values of it have operators that only compute.
pub fn has_plain_operators(name: &str) -> bool {
    let library = library(name);
    is_standard(library) || OF_VALUES.contains(&library)
}

/// Whether a class of another library tells nobody that it gets a subclass.
pub fn is_plain_base(name: &str) -> bool {
    let library = library(name);
    is_standard(library) || PLAIN_BASES.contains(&library) || is_quiet(name)
}

/// Whether calling it does nothing but give a value.
pub fn is_plain_call(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let loud = last.starts_with("set_") || last.contains("regist") || begins(name, &LOUD);
    !loud && (is_quiet(name) || begins(name, &PLAIN_CALLS))
}

/// Whether it changes the first thing that it is given.
pub fn changes_first(name: &str) -> bool {
    let in_place = name.strip_prefix("operator.").is_some_and(|last| {
        matches!(last, "setitem" | "delitem")
            || (last.starts_with('i')
                && last != "index"
                && last != "invert"
                && last != "itemgetter"
                && !last.starts_with("is_")
                && last != "indexOf"
                && last != "inv")
    });
    let at = name.starts_with("numpy.") && name.ends_with(".at");
    in_place || at || CHANGING_FUNCTIONS.contains(&name)
}

/// Whether it calls what it is given.
pub fn calls_arguments(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    CALLING.contains(&last)
}

/// Whether it only holds what it is given, and runs nothing of it before it is used.
pub fn only_holds(name: &str) -> bool {
    begins(name, &HOLDING)
}

/// Whether it gives what reading changes: an iterator, a file, a queue.
pub fn is_stream(name: &str) -> bool {
    let makers = [
        "itertools.",
        "io.StringIO",
        "io.BytesIO",
        "io.open",
        "queue.",
        "multiprocessing.Queue",
    ];
    begins(name, &makers)
}

/// A method that changes what it belongs to.
pub fn changes_itself(method: &str) -> bool {
    CHANGING_METHODS.contains(&method)
}

/// A method that puts what is in something else into what it belongs to.
pub fn puts_elements(method: &str) -> bool {
    method.starts_with("extend") || method.ends_with("update")
}

/// A method that does nothing but give a value, whatever of builtins and known libraries it belongs to.
pub fn is_plain_method(method: &str) -> bool {
    is_quiet_method(method) || PLAIN_METHODS.contains(&method)
}

/// A text or a number that says on what the process runs, and that nothing changes.
pub fn is_constant(name: &str) -> bool {
    matches!(
        name,
        "os.altsep"
            | "os.curdir"
            | "os.devnull"
            | "os.extsep"
            | "os.linesep"
            | "os.name"
            | "os.pardir"
            | "os.pathsep"
            | "os.sep"
            | "sys.byteorder"
            | "sys.hexversion"
            | "sys.implementation"
            | "sys.maxsize"
            | "sys.maxunicode"
            | "sys.platform"
            | "sys.version"
            | "sys.version_info"
    )
}

/// Whether it takes a class that counts as one of its own from then on: `collections.abc.Sequence.register`.
pub fn takes_classes(name: &str) -> bool {
    let class = name.strip_suffix(".register");
    class.is_some_and(|class| {
        class == "os.PathLike" || begins(class, &["collections.abc.", "numbers."])
    })
}

/// What differs from process to process, and need not be there.
pub fn is_state(name: &str) -> bool {
    matches!(
        name,
        "os.environ"
            | "os.environb"
            | "os.environ.get"
            | "os.getenv"
            | "os.getcwd"
            | "os.getcwdb"
            | "os.getlogin"
            | "sys.argv"
            | "sys.orig_argv"
            | "sys.modules"
            | "sys.path"
            | "sys.meta_path"
            | "sys.path_hooks"
            | "sys.stdin"
            | "sys.stdout"
            | "sys.stderr"
    )
}

/// What a function does that Python has itself.
pub enum BuiltinKind {
    /// Nothing, whatever it is given.
    Plain,
    /// It compares, shows or goes through what it is given.
    Examining,
    /// It changes the first that it is given.
    Changing,
    /// It gives the names of the module.
    Names,
    /// An attribute by its name.
    Attribute,
    Opening,
    Other,
}

/// The kind of a function that Python has itself.
pub fn builtin_kind(name: &str) -> BuiltinKind {
    let exception = [
        "Error",
        "Exception",
        "Warning",
        "Exit",
        "Interrupt",
        "Iteration",
    ];
    match name {
        "callable" | "classmethod" | "id" | "isinstance" | "issubclass" | "object" | "property"
        | "range" | "slice" | "staticmethod" | "super" | "type" => BuiltinKind::Plain,
        "abs" | "all" | "any" | "ascii" | "bin" | "bool" | "bytearray" | "bytes" | "chr"
        | "complex" | "dict" | "dir" | "divmod" | "enumerate" | "filter" | "float" | "format"
        | "frozenset" | "hash" | "hex" | "int" | "iter" | "len" | "list" | "map" | "max"
        | "memoryview" | "min" | "oct" | "ord" | "pow" | "repr" | "reversed" | "round" | "set"
        | "sorted" | "str" | "sum" | "tuple" | "zip" => BuiltinKind::Examining,
        "setattr" | "delattr" | "next" => BuiltinKind::Changing,
        "globals" | "locals" | "vars" => BuiltinKind::Names,
        "getattr" | "hasattr" => BuiltinKind::Attribute,
        "open" => BuiltinKind::Opening,
        _ if exception.iter().any(|end| name.ends_with(end)) => BuiltinKind::Plain,
        _ => BuiltinKind::Other,
    }
}
