//! What of Python and of libraries is the same at any time of a process.

use super::harmless::{BUILTINS, is_quiet, is_quiet_method};
use crate::requirements::standard::is_standard;

/// Built-in functions whose answer hangs on more than what they are given.
const ASKING: [&str; 12] = [
    "delattr",
    "dir",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "id",
    "issubclass",
    "locals",
    "next",
    "setattr",
    "vars",
];

/// What of libraries gives another value at another time, by the beginnings of full names.
const VARYING: [&str; 16] = [
    "contextvars.copy_context",
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "inspect.currentframe",
    "inspect.stack",
    "logging.getLevelName",
    "os.environ",
    "os.getcwd",
    "os.getenv",
    "os.path",
    "pathlib.Path.",
    "random",
    "time",
    "traceback",
];

/// What of `os` and `sys` is one value for the whole process.
const FIXED: [&str; 14] = [
    "os.PathLike",
    "os.linesep",
    "os.name",
    "os.path.join",
    "os.pathsep",
    "os.sep",
    "sys.byteorder",
    "sys.float_info",
    "sys.hexversion",
    "sys.implementation",
    "sys.maxsize",
    "sys.platform",
    "sys.version",
    "sys.version_info",
];

/// Modules of Python that hold what anybody may set.
const SET_BY_ANYBODY: [&str; 8] = [
    "atexit", "builtins", "gc", "locale", "os", "signal", "sys", "warnings",
];

/// Modules of Python that do something to the process when they are imported.
const DOING: [&str; 6] = [
    "antigravity",
    "idlelib",
    "readline",
    "rlcompleter",
    "site",
    "this",
];

/// Methods that answer by the process, or set what others may have set.
const ASKING_METHODS: [&str; 7] = [
    "absolute",
    "addFilter",
    "addHandler",
    "expanduser",
    "is_absolute",
    "resolve",
    "setLevel",
];

/// Whether a name of a library is one value for the whole process.
pub(super) fn is_fixed(name: &str) -> bool {
    let top = name.split('.').next().unwrap_or_default();
    let known = is_standard(top) && !SET_BY_ANYBODY.contains(&top);
    FIXED.contains(&name) || known || (top == "numpy" && is_quiet(name))
}

/// Whether a method gives the same at any time, and changes nothing but what it belongs to.
pub(super) fn is_same_method(name: &str) -> bool {
    is_quiet_method(name) && !ASKING_METHODS.contains(&name)
}

/// Whether calling something of a library gives the same at any time, and does nothing else.
pub(super) fn is_same_at_any_time(name: &str) -> bool {
    is_quiet(name)
        && (FIXED.contains(&name) || !VARYING.iter().any(|start| name.starts_with(start)))
}

/// Whether calling a built-in function gives the same at any time.
pub(super) fn is_same_builtin(name: &str) -> bool {
    !BUILTINS.contains(&name) && !ASKING.contains(&name)
}

/// Whether importing a module of Python does something to the process.
pub(super) fn does_something(module: &str) -> bool {
    DOING.contains(&module)
}
