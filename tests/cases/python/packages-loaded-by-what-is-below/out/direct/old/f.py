# coalesce: shim m
"""`direct.old.f` is deprecated since 1.0, use `direct.new.f`; it will be removed in 2.0.

Every name is forwarded: reading, assigning and deleting it here does so there.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from direct.new.f import (
        f as f,
    )


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


_forward(__name__, "`direct.old.f` is deprecated since 1.0, use `direct.new.f`; it will be removed in 2.0", "direct.old.f", "direct.new.f", {})
del _forward, TYPE_CHECKING
