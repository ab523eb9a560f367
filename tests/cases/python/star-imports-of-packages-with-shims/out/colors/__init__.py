"""Colours."""
__all__ = ["parse", "mix"]


def parse(text):
    return text


# coalesce: item shim m mix
import typing as _typing

if _typing.TYPE_CHECKING:
    from colors.blending import mix as mix


def _forward_items(moved: "dict[str, tuple[str, str]]") -> None:
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
        message = "`colors.%s` is deprecated, use `%s.%s`" % (name, new, item)

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
        "mix": ("colors.blending", "mix"),
    }
)
del _forward_items, _typing
