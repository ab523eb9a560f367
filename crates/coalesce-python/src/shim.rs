//! What stays at an old module path: a module that warns and forwards everything.
//!
//! The shim is an ordinary module whose class forwards get, set, delete and `dir` to the new
//! module, so that `mock.patch("old.f")` and `old.FLAG = True` reach it. It keeps no name of its own
//! besides what the import system gives every module. It warns when it is imported, and once for
//! each line that uses it, and it runs on Python 3.8 and later.

pub mod helper;
pub mod written;

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
    /// `(old item, new item)`.
    pub renames: &'a [(String, String)],
    /// The module that has what the shims of the package share.
    pub helper: Option<&'a str>,
}

/// The text of the shim.
#[must_use]
pub fn text(shim: &Shim<'_>) -> String {
    let message = message(shim);
    let renames: Vec<String> = shim
        .renames
        .iter()
        .map(|(old, new)| format!("\"{old}\": \"{new}\""))
        .collect();
    let template = if shim.helper.is_some() {
        SHORT
    } else {
        TEMPLATE
    };
    template
        .replace("@HELPER@", shim.helper.unwrap_or_default())
        .replace("@MANIFEST@", &shim.request.manifest)
        .replace("@MESSAGE@", &message)
        .replace("@OLD@", shim.old)
        .replace("@NEW@", shim.new)
        .replace("@RENAMES@", &renames.join(", "))
        .replace("@TYPES@", &type_checking(shim))
}

/// What importing the old module warns of.
fn message(shim: &Shim<'_>) -> String {
    let since = shim.request.since.as_ref();
    let since = since.map(|since| format!(" since {since}"));
    let removal = shim.request.remove_in.as_ref();
    let removal = removal.map(|release| format!("; it will be removed in {release}"));
    format!(
        "`{}` is deprecated{}, use `{}`{}",
        shim.old,
        since.unwrap_or_default(),
        shim.new,
        removal.unwrap_or_default()
    )
}

/// The names as a type checker reads them; nothing of this is executed.
fn type_checking(shim: &Shim<'_>) -> String {
    if !shim.new.split('.').all(is_name) {
        return String::new();
    }
    let mut names: Vec<&String> = shim.exports.iter().filter(|name| is_name(name)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let line = |name: &&String| {
        let renamed = shim
            .renames
            .iter()
            .find(|(old, _)| old == *name)
            .map_or(name.as_str(), |(_, new)| new);
        format!("        {renamed} as {name},\n")
    };
    let lines: String = names.iter().map(line).collect();
    format!(
        "\nif TYPE_CHECKING:\n    from {} import (\n{lines}    )\n",
        shim.new
    )
}

/// Whether a text can stand in an import statement.
fn is_name(text: &str) -> bool {
    is_identifier(text) && !KEYWORDS.contains(&text)
}

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

const SHORT: &str = r#"# coalesce: shim @MANIFEST@
"""@MESSAGE@.

Every name is forwarded: reading, assigning and deleting it here does so there.
"""

from typing import TYPE_CHECKING

from @HELPER@ import forward
@TYPES@
forward(__name__, "@MESSAGE@", "@OLD@", "@NEW@", {@RENAMES@})
"#;

const TEMPLATE: &str = r#"# coalesce: shim @MANIFEST@
"""@MESSAGE@.

Every name is forwarded: reading, assigning and deleting it here does so there.
"""

from typing import TYPE_CHECKING
@TYPES@

def _forward(name: str, message: str, old: str, new: str, renamed: "dict[str, str]") -> None:
    import importlib
    import sys
    import types
    import typing
    import warnings

    own = frozenset(
        "__class__ __dict__ __name__ __doc__ __package__ __loader__ __spec__ __path__ __file__"
        " __cached__ __builtins__ __annotations__ __warningregistry__".split()
    )
    seen: "set[tuple[str, int]]" = set()

    def warn() -> None:
        """Warns for the nearest line outside of this file and the import system, once."""
        frame: "typing.Optional[types.FrameType]" = sys._getframe(1)
        while frame is not None and (
            frame.f_globals is globals()
            or frame.f_globals.get("__name__", "").partition(".")[0] == "importlib"
            or {"target", "warn"} <= set(frame.f_code.co_freevars)
        ):
            frame = frame.f_back
        if frame is None:
            warnings.warn(message, DeprecationWarning)
            return
        place = (frame.f_code.co_filename, frame.f_lineno)
        if place not in seen:
            warnings.warn_explicit(
                message,
                DeprecationWarning,
                place[0],
                place[1],
                module=frame.f_globals.get("__name__"),
                registry=frame.f_globals.setdefault("__warningregistry__", {}),
            )
            seen.add(place)

    def target() -> "types.ModuleType":
        return sys.modules.get(new) or importlib.import_module(new)

    class Shim(types.ModuleType):
        """A module that is another one by its old name."""

        def __getattr__(self, key: str) -> object:
            if key in own:
                raise AttributeError("module %r has no attribute %r" % (old, key))
            if key == "__all__":
                back = {there: here for here, there in renamed.items()}
                module = target()
                names = getattr(module, "__all__", None)
                if names is None:
                    names = [each for each in vars(module) if not each.startswith("_")]
                return [back.get(each, each) for each in names]
            value: object = getattr(target(), renamed.get(key, key))
            if not (key.startswith("__") and key.endswith("__")):
                warn()
            return value

        def __setattr__(self, key: str, value: object) -> None:
            if key in own:
                super().__setattr__(key, value)
            elif isinstance(value, types.ModuleType) and value.__name__ == old + "." + key:
                # The import system binds a submodule: the new module has the real one.
                if not hasattr(target(), key):
                    super().__setattr__(key, value)
            else:
                warn()
                setattr(target(), renamed.get(key, key), value)

        def __delattr__(self, key: str) -> None:
            if key in own or key in self.__dict__:
                super().__delattr__(key)
            else:
                warn()
                delattr(target(), renamed.get(key, key))

        def __dir__(self) -> "list[str]":
            back = {there: here for here, there in renamed.items()}
            return sorted(set(super().__dir__()).union(back.get(each, each) for each in dir(target())))

    warn()
    if name == "__main__":
        import runpy

        runpy.run_module(new, run_name=name, alter_sys=True)
        return
    shim = sys.modules[name]
    if type(shim) is not types.ModuleType:
        importlib.reload(target())
    target()
    shim.__class__ = Shim


_forward(__name__, "@MESSAGE@", "@OLD@", "@NEW@", {@RENAMES@})
del _forward, TYPE_CHECKING
"#;
