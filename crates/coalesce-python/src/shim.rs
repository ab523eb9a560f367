//! What stays at an old module path: a module that warns and forwards everything.
//!
//! The shim is an ordinary module whose class forwards get, set, delete and `dir` to the new
//! module, so that `mock.patch("old.f")` and `old.FLAG = True` reach it. It warns when it is
//! imported, and once for each line that uses it.

use coalesce_model::ShimRequest;

use crate::extract::is_identifier;

/// What a shim needs to know.
pub struct Shim<'a> {
    /// Full old name.
    pub old: &'a str,
    /// Full new name.
    pub new: &'a str,
    /// Manifest and releases.
    pub request: &'a ShimRequest,
    /// Names that type checkers should see.
    pub exports: &'a [String],
    /// `__all__` of the module, when it has a literal one.
    pub all: Option<Vec<String>>,
    /// `(old item, new item)`.
    pub renames: &'a [(String, String)],
}

/// The text of the shim; it runs on Python 3.7 and later.
#[must_use]
pub fn text(shim: &Shim<'_>) -> String {
    let since = shim.request.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
    let removal = shim.request.remove_in.as_ref().map(|release| format!(" and will be removed in {release}")).unwrap_or_default();
    let message = format!("{} is deprecated{since}{removal}; use {} instead", shim.old, shim.new);
    let renames: String = shim.renames.iter().map(|(old, new)| format!("{old:?}: {new:?}, ")).collect();
    let renames = renames.trim_end_matches(", ");
    TEMPLATE
        .replace("@MANIFEST@", &shim.request.manifest)
        .replace("@MESSAGE@", &message)
        .replace("@NEW@", shim.new)
        .replace("@RENAMES@", renames)
        .replace("@TYPES@", &type_checking(shim))
        .replace("@ALL@", &all(shim))
}

/// The names as a type checker reads them; nothing of this is executed.
fn type_checking(shim: &Shim<'_>) -> String {
    let mut names: Vec<&String> = shim.exports.iter().filter(|name| is_identifier(name)).collect();
    names.sort();
    names.dedup();
    let line = |name: &&String| {
        let renamed = shim.renames.iter().find(|(old, _)| old == *name).map_or(name.as_str(), |(_, new)| new);
        format!("    from {} import {renamed} as {name}  # noqa: F401\n", shim.new)
    };
    let lines: String = names.iter().map(line).collect();
    if lines.is_empty() { "    pass\n".to_owned() } else { lines }
}

/// `__all__` as the old module had it: renamed items under their old names.
fn all(shim: &Shim<'_>) -> String {
    match &shim.all {
        Some(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("__all__ = [{}]\n", names.join(", "))
        }
        None => "__all__ = getattr(_new, \"__all__\", [name for name in dir(_new) if not name.startswith(\"_\")])\n".to_owned(),
    }
}

const TEMPLATE: &str = r#"# coalesce: shim @MANIFEST@
"""Deprecated: use `@NEW@`."""
import importlib as _importlib
import sys as _sys
import types as _types
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
@TYPES@
_MESSAGE = "@MESSAGE@"
_RENAMED = {@RENAMES@}
_OWN = frozenset(
    ["__name__", "__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__",
     "__class__", "__dict__", "__builtins__", "_new", "_seen"]
)


def _importer_level():
    """Frames between the caller of `warn` and the line that imports this module."""
    level, frame = 1, _sys._getframe(1)
    while frame is not None and (frame.f_globals is globals() or "importlib" in frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


_new = _importlib.import_module("@NEW@")
_warnings.warn(_MESSAGE, DeprecationWarning, stacklevel=_importer_level())
@ALL@_seen = set()


class _Shim(_types.ModuleType):
    def __getattribute__(self, name):
        own = _types.ModuleType.__getattribute__
        if name in _OWN:
            return own(self, name)
        target = own(self, "__dict__")
        if name == "__all__":
            return target["__all__"]
        try:
            value = getattr(target["_new"], _RENAMED.get(name, name))
        except AttributeError:
            return own(self, name)
        if not name.startswith("__"):
            caller = _sys._getframe(1)
            place = (caller.f_code.co_filename, caller.f_lineno)
            if "importlib" not in place[0] and place not in target["_seen"]:
                target["_seen"].add(place)
                _warnings.warn(_MESSAGE, DeprecationWarning, stacklevel=2)
        return value

    def __setattr__(self, name, value):
        if name in _OWN or (isinstance(value, _types.ModuleType) and value.__name__ == self.__name__ + "." + name):
            return _types.ModuleType.__setattr__(self, name, value)
        setattr(self.__dict__["_new"], _RENAMED.get(name, name), value)

    def __delattr__(self, name):
        delattr(self.__dict__["_new"], _RENAMED.get(name, name))

    def __dir__(self):
        return sorted(set(dir(self.__dict__["_new"])) | set(_RENAMED))


_sys.modules[__name__].__class__ = _Shim
"#;
