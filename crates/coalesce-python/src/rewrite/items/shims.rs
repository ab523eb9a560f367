//! What stays of an item at its old name: the old module forwards it, and warns.
//!
//! The module gets a class with a property for each name: reading, assigning and deleting it there
//! does so where the item is now, so that `mock.patch` by the old name reaches it, and pickles that
//! name it still load. A name that the old module goes on using itself stays among its own, too.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit};

use super::{Moved, cut, source::Source};
use crate::{extract::ITEM_SHIM, rewrite::mapping::Mapping};

/// Appends the shim of some items of one file; those of `own` names are imported there, too.
pub fn append(
    mapping: &Mapping<'_>,
    source: &Source,
    (kept, own): (&[&Moved], &[&str]),
    helper: Option<&str>,
    edits: &mut Vec<Edit>,
) {
    let mut text = String::new();
    for (manifest, items) in by_manifest(kept) {
        text.push_str(&match source.path.extension() {
            Some("pyi") => types(manifest, &items),
            _ => {
                let old = mapping.name_after(source.module);
                shim(&old, manifest, (&items, own), helper)
            }
        });
    }
    append_text(source, &text, edits);
}

/// Puts a text at the end of a file, from which something may be cut out.
fn append_text(source: &Source, text: &str, edits: &mut Vec<Edit>) {
    let length = source.text.len();
    let at = ByteSpan::from_range(length..length).start;
    let newline = cut::newline(&source.text);
    let open = !source.text.is_empty() && !source.text.ends_with('\n');
    let text = format!("{}{text}", if open { "\n" } else { "" }).replace('\n', newline);
    // What is cut out at the very end of the file and what is put there are one edit.
    let mut edits_there = edits.iter_mut();
    match edits_there.find(|edit| edit.span.end == at && !edit.span.is_empty()) {
        Some(edit) => edit.text.push_str(&text),
        None => edits.push(Edit::insert(at, text)),
    }
}

/// Items whose shims stay, by the manifests that ask for them.
fn by_manifest<'m>(kept: &[&'m Moved]) -> BTreeMap<&'m str, Vec<&'m Moved>> {
    let mut manifests: BTreeMap<&str, Vec<&Moved>> = BTreeMap::new();
    for moved in kept {
        if let Some(request) = &moved.change.shim {
            manifests.entry(&request.manifest).or_default().push(moved);
        }
    }
    manifests
}

fn names(items: &[&Moved]) -> String {
    let names: Vec<&str> = items.iter().map(|moved| moved.item.as_str()).collect();
    names.join(", ")
}

fn types(manifest: &str, items: &[&Moved]) -> String {
    let lines: String = items
        .iter()
        .map(|moved| {
            format!(
                "from {} import {} as {}\n",
                moved.parent, moved.name, moved.item
            )
        })
        .collect();
    format!("\n{ITEM_SHIM}{manifest} {}\n{lines}", names(items))
}

fn shim(
    old: &str,
    manifest: &str,
    (items, own): (&[&Moved], &[&str]),
    helper: Option<&str>,
) -> String {
    let request = items.first().and_then(|moved| moved.change.shim.as_ref());
    let since = request
        .and_then(|request| request.since.as_ref())
        .map(|since| format!(" since {since}"))
        .unwrap_or_default();
    let removal = request
        .and_then(|request| request.remove_in.as_ref())
        .map(|release| format!("; it will be removed in {release}"))
        .unwrap_or_default();
    let table: String = items
        .iter()
        .map(|moved| {
            format!(
                "        \"{}\": (\"{}\", \"{}\"),\n",
                moved.item, moved.parent, moved.name
            )
        })
        .collect();
    let imports: String = items
        .iter()
        .filter(|moved| !own.contains(&moved.item.as_str()))
        .map(|moved| {
            format!(
                "    from {} import {} as {}\n",
                moved.parent, moved.name, moved.item
            )
        })
        .collect();
    let imports = if imports.is_empty() {
        String::new()
    } else {
        format!("import typing as _typing\n\nif _typing.TYPE_CHECKING:\n{imports}\n\n")
    };
    let typing = if imports.is_empty() { "" } else { ", _typing" };
    // What follows the marker is no import: those are shims in files of types.
    let blank = if imports.is_empty() { "\n" } else { "" };
    let template = if helper.is_some() { SHORT } else { TEMPLATE };
    template
        .replace("@BLANK@", blank)
        .replace("@HELPER@", helper.unwrap_or_default())
        .replace(
            "@MARKER@",
            &format!("{ITEM_SHIM}{manifest} {}", names(items)),
        )
        .replace("@OLD@", old)
        .replace("@SINCE@", &since)
        .replace("@REMOVAL@", &removal)
        .replace("@TABLE@", &table)
        .replace("@IMPORTS@", &imports)
        .replace("@TYPING@", typing)
}

const SHORT: &str = r#"

@MARKER@
@BLANK@@IMPORTS@from @HELPER@ import forward_items as _forward_items  # noqa: E402

_forward_items(
    __name__,
    {
@TABLE@    },
    "`%s.%s` is deprecated@SINCE@, use `%s.%s`@REMOVAL@",
)
del _forward_items@TYPING@
"#;

pub const TEMPLATE: &str = r#"

@MARKER@
@IMPORTS@def _forward_items(moved: "dict[str, tuple[str, str]]") -> None:
    import dis
    import importlib
    import sys
    import types
    import typing
    import warnings

    shimmed = sys.modules.get(__name__)
    if shimmed is None:
        return
    seen: "set[tuple[str, str, int]]" = set()

    def warn(message: str) -> None:
        """Warns for the nearest line outside of this file and the import system, once."""
        frame: "typing.Optional[types.FrameType]" = sys._getframe(2)
        while frame is not None and (
            frame.f_globals is globals()
            or frame.f_globals.get("__name__", "").partition(".")[0] == "importlib"
            or {"target", "warn"} <= set(frame.f_code.co_freevars)
        ):
            frame = frame.f_back
        if frame is None:
            warnings.warn(message, DeprecationWarning)
            return
        operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        if operation in ("IMPORT_NAME", "IMPORT_STAR", "CALL_INTRINSIC_1"):
            # A star import names nothing.
            return
        place = (message, frame.f_code.co_filename, frame.f_lineno)
        if place not in seen:
            warnings.warn_explicit(
                message,
                DeprecationWarning,
                place[1],
                place[2],
                module=frame.f_globals.get("__name__"),
                registry=frame.f_globals.setdefault("__warningregistry__", {}),
            )
            seen.add(place)

    def forwarded(name: str, new: str, item: str) -> property:
        message = "`@OLD@.%s` is deprecated@SINCE@, use `%s.%s`@REMOVAL@" % (name, new, item)

        def target() -> "types.ModuleType":
            return sys.modules.get(new) or importlib.import_module(new)

        def read(module: object) -> object:
            value: object = getattr(target(), item)
            warn(message)
            return value

        def assign(module: object, value: object) -> None:
            warn(message)
            setattr(target(), item, value)
            if name in vars(module):
                vars(module)[name] = value

        def delete(module: object) -> None:
            warn(message)
            delattr(target(), item)
            vars(module).pop(name, None)

        return property(read, assign, delete)

    class Shim(type(shimmed)):  # type: ignore[misc]
        """A module of which some items are elsewhere."""

        def __getattr__(self, key: str) -> object:
            if key == "__all__":
                own = [each for each in vars(self) if not each.startswith("_")]
                return own + [each for each in moved if not each.startswith("_") and each not in own]
            above = getattr(super(), "__getattr__", None)
            local = vars(self).get("__getattr__")
            if above is not None:
                return above(key)
            if local is not None:
                return local(key)
            raise AttributeError("module %r has no attribute %r" % (__name__, key))

        def __dir__(self) -> "list[str]":
            return sorted(set(super().__dir__()).union(moved))

    for name, (new, item) in moved.items():
        setattr(Shim, name, forwarded(name, new, item))
    shimmed.__class__ = Shim


_forward_items(
    {
@TABLE@    }
)
del _forward_items@TYPING@
"#;
