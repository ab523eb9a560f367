# coalesce: helper of shims
"""What modules at old names use to lead to the new ones. It goes when the last of them does."""

import dis
import importlib
import sys
import types
import typing
import warnings

_OWN = frozenset(
    "__class__ __dict__ __name__ __doc__ __package__ __loader__ __spec__ __path__ __file__"
    " __cached__ __builtins__ __annotations__ __warningregistry__".split()
)


def _warn(
    message: str,
    own: "dict[str, typing.Any]",
    seen: "set[tuple[str, str, int]]",
    stars: bool = True,
) -> None:
    """Warns for the nearest line outside of the shim and the import system, once."""
    frame: "typing.Optional[types.FrameType]" = sys._getframe(1)
    while frame is not None and (
        frame.f_globals is own
        or frame.f_globals is globals()
        or frame.f_globals.get("__name__", "").partition(".")[0] == "importlib"
        or {"target", "warn"} <= set(frame.f_code.co_freevars)
    ):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, DeprecationWarning)
        return
    if not stars:
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


def _module(name: str) -> "types.ModuleType":
    return sys.modules.get(name) or importlib.import_module(name)


def forward(
    name: str,
    message: str,
    old: str,
    new: str,
    renamed: "typing.Mapping[str, str]" = types.MappingProxyType({}),
) -> None:
    """Makes the module `name` another one, `new`, by its old name."""
    back = {there: here for here, there in renamed.items()}
    shim = sys.modules[name]
    own = vars(shim)
    seen: "set[tuple[str, str, int]]" = set()

    class Shim(types.ModuleType):
        """A module that is another one by its old name."""

        def __getattr__(self, key: str) -> object:
            if key in _OWN:
                raise AttributeError("module %r has no attribute %r" % (old, key))
            if key == "__all__":
                module = _module(new)
                names = getattr(module, "__all__", None)
                if names is None:
                    names = [each for each in vars(module) if not each.startswith("_")]
                return [back.get(each, each) for each in names]
            value: object = getattr(_module(new), renamed.get(key, key))
            if not (key.startswith("__") and key.endswith("__")):
                _warn(message, own, seen)
            return value

        def __setattr__(self, key: str, value: object) -> None:
            if key in _OWN:
                super().__setattr__(key, value)
            elif isinstance(value, types.ModuleType) and value.__name__ == old + "." + key:
                # The import system binds a submodule: the new module has the real one.
                if not hasattr(_module(new), key):
                    super().__setattr__(key, value)
            else:
                _warn(message, own, seen)
                setattr(_module(new), renamed.get(key, key), value)

        def __delattr__(self, key: str) -> None:
            if key in _OWN or key in self.__dict__:
                super().__delattr__(key)
            else:
                _warn(message, own, seen)
                delattr(_module(new), renamed.get(key, key))

        def __dir__(self) -> "list[str]":
            names = (back.get(each, each) for each in dir(_module(new)))
            return sorted(set(super().__dir__()).union(names))

    _warn(message, own, seen)
    if name == "__main__":
        import runpy

        runpy.run_module(new, run_name=name, alter_sys=True)
        return
    # The names that the shim was written with are not those of a module.
    for key in ("TYPE_CHECKING", "forward"):
        own.pop(key, None)
    if type(shim) is not types.ModuleType:
        importlib.reload(_module(new))
    _module(new)
    shim.__class__ = Shim


def forward_items(
    name: str,
    moved: "dict[str, tuple[str, str]]",
    message: str,
) -> None:
    """Leads from names of the module `name` to where their items are."""
    shim = sys.modules.get(name)
    if shim is None:
        return
    own = vars(shim)
    seen: "set[tuple[str, str, int]]" = set()

    def forwarded(key: str, new: str, item: str) -> property:
        told = message % (name, key, new, item)

        def read(module: object) -> object:
            value: object = getattr(_module(new), item)
            _warn(told, own, seen, stars=False)
            return value

        def assign(module: object, value: object) -> None:
            _warn(told, own, seen)
            setattr(_module(new), item, value)
            if key in vars(module):
                vars(module)[key] = value

        def delete(module: object) -> None:
            _warn(told, own, seen)
            delattr(_module(new), item)
            vars(module).pop(key, None)

        return property(read, assign, delete)

    class Shim(type(shim)):  # type: ignore[misc]
        """A module of which some items are elsewhere."""

        def __getattr__(self, key: str) -> object:
            if key == "__all__":
                names = [each for each in vars(self) if not each.startswith("_")]
                return names + [each for each in moved if not each.startswith("_") and each not in names]
            above = getattr(super(), "__getattr__", None)
            if above is not None:
                return above(key)
            if "__getattr__" in vars(self):
                return vars(self)["__getattr__"](key)
            raise AttributeError("module %r has no attribute %r" % (name, key))

        def __dir__(self) -> "list[str]":
            return sorted(set(super().__dir__()).union(moved))

    for key, (new, item) in moved.items():
        setattr(Shim, key, forwarded(key, new, item))
    shim.__class__ = Shim
