//! What is known of base classes of libraries, by their last names.

/// Those whose objects do not say the name of their class, as by `repr`.
const SILENT: [&str; 20] = [
    "ABC",
    "Generic",
    "Iterator",
    "Mapping",
    "MutableMapping",
    "MutableSequence",
    "Protocol",
    "Sequence",
    "TestCase",
    "TypedDict",
    "UserDict",
    "UserList",
    "bytes",
    "dict",
    "float",
    "int",
    "list",
    "object",
    "str",
    "tuple",
];

/// Those whose objects say it, and that do nothing else by the names of their subclasses.
const SAYING: [&str; 10] = [
    "Enum",
    "Flag",
    "IntEnum",
    "IntFlag",
    "Module",
    "NamedTuple",
    "Path",
    "Process",
    "StrEnum",
    "Thread",
];

/// Those whose objects say it, and of which no more is known.
const SAYING_AT_LEAST: [&str; 14] = [
    "BaseModel",
    "Counter",
    "Logger",
    "OrderedDict",
    "PosixPath",
    "PurePath",
    "ReprEnum",
    "SimpleNamespace",
    "Struct",
    "bytearray",
    "defaultdict",
    "deque",
    "frozenset",
    "set",
];

/// Whether a base class is that of errors, by its name.
pub(super) fn is_error(base: &str) -> bool {
    let mut errors = ["Error", "Exception", "Warning"].iter();
    errors.any(|end| base.ends_with(end))
}

/// Whether objects of what has such a base say the name of their class; `None` where that is not known.
pub(super) fn says_class_name(base: &str) -> Option<bool> {
    let says = SAYING.contains(&base) || SAYING_AT_LEAST.contains(&base) || is_error(base);
    (says || SILENT.contains(&base)).then_some(says)
}

/// Whether a base class is known to do nothing by the names of its subclasses but say them.
pub(super) fn ignores_class_names(base: &str) -> bool {
    SILENT.contains(&base) || SAYING.contains(&base)
}
