"""The rule by which the changes of these workspaces were drawn, written before any of them and any run.

    python3 draw.py            compares the drawn changes with those of the texts beside this file
    python3 draw.py NAME       prints the changes of one of them

Four changes a tree, and a fifth where it has something for it. The generator of a tree is seeded with its name, and draws the
changes one after the other. What cannot be written down (the name is taken, there is no such place) and the same change twice
is drawn again; nothing is left out for being hard, silly or impossible. Each third change, by a draw of its own, asks for a shim.

- Two moves of modules: of every module of every library or program of the workspace, in files (`#[path]` as well) and
  inline ones, the roots and what is below `#[cfg(test)]` excepted. One of three: it gets another name in its place (`NAME_v2`); it goes
  below another module of its crate, the root among them; it goes below a module of another library, where there is one
  (else below one of its own).
- Two moves of items: of every function, type, trait, constant, static, alias and `macro_rules!` of these modules and the roots,
  private ones too, wherever they stand in it; not `main`. A coin: to another module of its crate, or of another library, where there is one.
- The fifth: of every two items of one kind and name in two places, and every two modules of one name, one pair; which one
  gives way is drawn. Items are replaced, modules merged. Their texts are not compared.
- `tests/`, `benches/`, `examples/`, build scripts, procedural macros and included files are neither source nor destination; a program is
  a destination of its own modules alone. Where a package has a library, its programs are not looked at.
- After a shim a program outside of the crate uses the old name, if such a program compiled before.
"""

import posixpath
import random
import re
import sys
from pathlib import Path

SEED = 20270117

MASKED = re.compile(
    r"//[^\n]*|/\*.*?\*/|r#\".*?\"#|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)
MODULE = re.compile(
    r"^[ ]*(?P<attributes>(?:#\[[^\n]*\]\s*)*)(?:pub(?:\([^)]*\))? )?mod (?P<name>\w+)\s*(?P<end>[;{])",
    re.MULTILINE,
)
ITEM = re.compile(
    r"^[ ]*(?:pub(?:\([^)]*\))? )?(?:(?:unsafe|async|const|extern \"[^\"]*\"|default) )*"
    r"(?P<kind>fn|struct|enum|union|trait|const|static|type|macro_rules!)(?: mut)? (?P<name>[A-Za-z]\w*)",
    re.MULTILINE,
)
DEFINITION = r"\b(?:fn|struct|enum|union|trait|const|static|static mut|type|mod|macro_rules!) {}\b"


# coalesce: allow(duplicate, each set keeps the generator that drew it)
def read(path):
    """The files of a tree, and what is asked of it."""
    files, calls, name = {}, [], None
    for line in path.read_text().splitlines():
        if line.startswith("=== "):
            name = None
        elif line.startswith("### "):
            name = line[4:].strip()
            files[name] = []
        elif name is not None:
            files[name].append(line)
        elif re.match("@(move|replace|merge) ", line):
            calls.append(line[1:])
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}, calls


def mask(text):
    """The text with comments and literals blanked, so that its braces are those of the code."""

    def blank(found):
        one = found.group(0)
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        kept = line.startswith("#[") and line.endswith("path = ")
        return one if kept else re.sub(r"[^\n\"]", " ", one)

    return MASKED.sub(blank, text)


def list_depths(text):
    depths, depth = [], 0
    for char in text:
        if char in ")]}":
            depth -= 1
        depths.append(depth)
        if char in "([{":
            depth += 1
    return depths


class Crate:
    """A crate with its modules: the path of each, and the items that stand in it as kind and name."""

    def __init__(self, name, is_library, files, root):
        self.name, self.is_library, self.modules, self.texts = name, is_library, {}, {}
        self.read_file(files, root, posixpath.dirname(root), ())

    def read_file(self, files, path, folder, module):
        text = mask(files[path])
        self.read_body(files, text, (posixpath.dirname(path), folder), module)

    def read_body(self, files, text, folders, module):
        depths = list_depths(text)
        items = self.modules.setdefault(module, [])
        self.texts[module] = self.texts.get(module, "") + text
        for found in MODULE.finditer(text):
            if depths[found.start("name")] or "cfg(test)" in found.group("attributes"):
                continue
            below = module + (found.group("name"),)
            beside, folder = folders
            if found.group("end") == "{":
                end = next(
                    at
                    for at in range(found.end(), len(text))
                    if depths[at] == 0 and text[at] == "}"
                )
                inner = posixpath.join(folder, below[-1])
                self.read_body(files, text[found.end() : end], (inner, inner), below)
                continue
            elsewhere = re.search(r'\bpath = "(.*?)"', found.group("attributes"))
            if elsewhere:
                path = posixpath.normpath(posixpath.join(beside, elsewhere.group(1)))
                self.read_file(files, path, posixpath.dirname(path), below)
                continue
            flat = posixpath.join(folder, below[-1] + ".rs")
            deep = posixpath.join(folder, below[-1], "mod.rs")
            self.read_file(
                files,
                flat if flat in files else deep,
                posixpath.join(folder, below[-1]),
                below,
            )
        for found in ITEM.finditer(text):
            one = (found.group("kind"), found.group("name"))
            if not depths[found.start("name")] and one[1] != "main" and one not in items:
                items.append(one)


def list_crates(files):
    crates = []
    for manifest in sorted(files):
        text, folder = files[manifest], posixpath.join(posixpath.dirname(manifest), "src")
        root = next((f"{folder}/{name}.rs" for name in ("lib", "main") if f"{folder}/{name}.rs" in files), None)
        if posixpath.basename(manifest) != "Cargo.toml" or root is None or "proc-macro = true" in text:
            continue
        package = text[text.index("[package]") :]
        name = re.search(r'^name = "(.*?)"', package, re.MULTILINE).group(1)
        crates.append(Crate(name.replace("-", "_"), root.endswith("lib.rs"), files, root))
    return crates


def draw_place(rng, crate, crates, elsewhere, fits):
    """A module of another library, if that is wanted and there is one, or of the crate itself."""
    others = [other for other in crates if other.is_library and other is not crate]
    if elsewhere and others:
        places = [(other, place) for other in others for place in other.modules]
    else:
        places = [(crate, place) for place in crate.modules if fits(place)]
    return rng.choice(places) if places else None


def is_taken(crate, place, name):
    return re.search(DEFINITION.format(re.escape(name)), crate.texts[place])


def draw_module(rng, crates):
    crate, module = rng.choice([(crate, one) for crate in crates for one in crate.modules if one])
    way = rng.randrange(3)
    if way == 0:
        place, name = (crate, module[:-1]), module[-1] + "_v2"
    else:
        name = module[-1]
        place = draw_place(
            rng, crate, crates, way == 2, lambda one: one[: len(module)] != module and one != module[:-1]
        )
    if place is None or is_taken(*place, name):
        return None
    return "move {} {}".format("::".join((crate.name, *module)), "::".join((place[0].name, *place[1], name)))


def list_items(crates):
    return [
        (crate, module, kind, name)
        for crate in crates
        for module, items in crate.modules.items()
        for kind, name in items
    ]


def draw_item(rng, crates):
    crate, module, _, name = rng.choice(list_items(crates))
    place = draw_place(rng, crate, crates, rng.random() < 0.5, lambda one: one != module)
    if place is None or is_taken(*place, name):
        return None
    return "move {} {} --kind item".format(
        "::".join((crate.name, *module, name)), "::".join((place[0].name, *place[1], name))
    )


def draw_pair(rng, crates):
    items, pairs = list_items(crates), []
    modules = [(crate, module) for crate in crates for module in crate.modules if module]
    for at, (crate, module, kind, name) in enumerate(items):
        for other in items[at + 1 :]:
            if other[2:] == (kind, name):
                one, two = (crate, (*module, name)), (other[0], (*other[1], name))
                pairs.append(("replace {} {} --kind item", one, two))
    for at, (crate, module) in enumerate(modules):
        for other, beside in modules[at + 1 :]:
            is_within = other is crate and beside[: len(module)] == module
            if beside[-1] == module[-1] and not is_within:
                pairs.append(("merge {} {}", (crate, module), (other, beside)))
    pairs = [
        (verb, one, two)
        for verb, one, two in pairs
        for one, two in ((one, two), (two, one))
        if two[0].is_library or two[0] is one[0]
    ]
    if not pairs:
        return None
    verb, one, two = rng.choice(pairs)
    return verb.format("::".join((one[0].name, *one[1])), "::".join((two[0].name, *two[1])))


def draw(tree, files):
    """The calls of a tree, without the name of the program."""
    rng = random.Random(f"{SEED}-{tree}")
    crates = list_crates(files)
    drawn = []
    for draw_one in (draw_module, draw_module, draw_item, draw_item, draw_pair):
        one = draw_one(rng, crates)
        while draw_one is not draw_pair and (one is None or one in drawn):
            one = draw_one(rng, crates)
        if one is not None:
            drawn.append(one)
    return [one + " --shim" * (rng.random() < 1 / 3) for one in drawn]


def main():
    if len(sys.argv) > 1:
        path = Path(__file__).parent / f"{sys.argv[1]}.cases"
        print("\n".join(draw(path.stem, read(path)[0])))
        return
    differs = False
    for path in sorted(Path(__file__).parent.glob("*.cases")):
        files, calls = read(path)
        drawn = draw(path.stem, files)
        if calls != drawn:
            differs = True
            print(f"{path.stem}: {calls}\n  drawn: {drawn}")
    sys.exit(differs)


if __name__ == "__main__":
    main()
