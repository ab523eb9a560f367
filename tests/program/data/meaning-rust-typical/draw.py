"""The rule by which the changes of these packages were drawn, written before any package and any run.

    python3 draw.py            compares the drawn changes with those of the texts beside this file

Four changes a package: two module moves, two item moves. The generator of a package is seeded with its name; all
changes of all packages are counted in ORDER, and each third one is asked for with a shim. The same change twice is drawn
again; nothing is left out for being hard, silly or impossible.

- Modules: every module that is a file, of every library or program, the root excepted; modules written inside others are
  not drawn. A coin: a rename (the last name gets `_impl`), or a move below another module of the same crate, drawn
  from all that are neither the module, nor below it, nor its parent. Where the name is taken it is drawn again.
- Items: every function, struct, enum, trait or constant that is `pub` or `pub(crate)` and begins in the first column of
  such a file or of a root. It goes to another module of the same crate, or, in one of four draws where the workspace
  has other libraries, to a module of theirs. Where the destination has the name it is drawn again.
- Procedural macros, `tests/`, `examples/` and `build.rs` are neither source nor destination.
"""

import posixpath
import random
import re
import sys
from pathlib import Path

SEED = 20261123

ORDER = [
    "rgrep",
    "clapper",
    "sjson",
    "minirt",
    "axle",
    "wgx",
    "burnish",
    "wick",
    "cudarx",
    "nalg",
    "rayonet",
    "tracelet",
    "tlsish",
    "hyperion",
    "ashen",
    "gpualloc",
    "nvmlw",
    "becs",
    "rexp",
    "imago",
]

ITEM = re.compile(
    r"^pub(?:\(crate\))? (?:(?:unsafe|async|const|extern \"C\") )*(?:fn|struct|enum|trait|const) ([A-Za-z_]\w*)",
    re.MULTILINE,
)
DEFINITION = r"\b(?:fn|struct|enum|trait|const|static|type|union|mod|macro_rules!) {}\b"


def read(path):
    """The files of a package, and what is asked of it."""
    files, calls, name = {}, [], None
    for line in path.read_text().splitlines():
        if line.startswith("=== "):
            name = None
        elif line.startswith("### "):
            name = line[4:].strip()
            files[name] = []
        elif name is not None:
            files[name].append(line)
        elif line.startswith("@move "):
            calls.append(line[6:])
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}, calls


def list_crates(files):
    """Each crate's name, whether it is a library, and its modules: the path of each and its text."""
    crates = []
    for manifest in sorted(
        name for name in files if posixpath.basename(name) == "Cargo.toml"
    ):
        text, folder = (
            files[manifest],
            posixpath.join(posixpath.dirname(manifest), "src"),
        )
        is_library = f"{folder}/lib.rs" in files
        is_crate = is_library or f"{folder}/main.rs" in files
        if "[package]" not in text or "proc-macro = true" in text or not is_crate:
            continue
        name = re.search(
            r'^name = "(.*?)"', text[text.index("[package]") :], re.MULTILINE
        ).group(1)
        modules = {}
        for path in sorted(
            path
            for path in files
            if path.startswith(f"{folder}/") and path.endswith(".rs")
        ):
            module = tuple(path[len(folder) + 1 : -3].split("/"))
            if module == (("lib",) if is_library else ("main",)):
                modules[()] = files[path]
            elif module not in {("lib",), ("main",)} and module[0] != "bin":
                modules[module[:-1] if module[-1] == "mod" else module] = files[path]
        crates.append((name.replace("-", "_"), is_library, modules))
    return crates


def draw_module(rng, modules):
    crate, module = rng.choice(modules)
    name, _, texts = crate
    if rng.random() < 0.5:
        new = module[:-1] + (module[-1] + "_impl",)
    else:
        parents = [
            one for one in texts if one[: len(module)] != module and one != module[:-1]
        ]
        if not parents:
            return None
        parent = rng.choice(parents)
        new = parent + (module[-1],)
        if re.search(DEFINITION.format(module[-1]), texts[parent]):
            return None
    return (
        None
        if new in texts
        else "::".join((name, *module)) + " " + "::".join((name, *new))
    )


def draw_item(rng, items, crates):
    crate, module, item = rng.choice(items)
    others = [other for other in crates if other[1] and other[0] != crate[0]]
    if others and rng.random() < 0.25:
        places = [(other, place) for other in others for place in other[2]]
    else:
        places = [(crate, place) for place in crate[2] if place != module]
    if not places:
        return None
    other, place = rng.choice(places)
    if re.search(DEFINITION.format(item), other[2][place]):
        return None
    return (
        "::".join((crate[0], *module, item)) + " " + "::".join((other[0], *place, item))
    )


def draw(package, files):
    """The four calls, without the name of the command."""
    rng = random.Random(f"{SEED}-{package}")
    crates = list_crates(files)
    modules = [(crate, module) for crate in crates for module in crate[2] if module]
    items = [
        (crate, module, found.group(1))
        for crate in crates
        for module, text in crate[2].items()
        for found in ITEM.finditer(text)
    ]
    drawn = []
    while len(drawn) < 4:
        is_module = len(drawn) < 2
        one = draw_module(rng, modules) if is_module else draw_item(rng, items, crates)
        if one is not None and one not in drawn:
            drawn.append(one)
    first = ORDER.index(package) * 4
    return [
        one + " --kind item" * (at >= 2) + " --shim" * ((first + at) % 3 == 2)
        for at, one in enumerate(drawn)
    ]


def main():
    differs = False
    for package in ORDER:
        files, calls = read(Path(__file__).parent / f"{package}.cases")
        for call, drawn in zip(calls, draw(package, files), strict=True):
            if call != drawn:
                differs = True
                print(f"{package}: {call}\n  drawn: {drawn}")
    sys.exit(differs)


if __name__ == "__main__":
    main()
