//! Items that move, are renamed or give way to a primary: the definition and every reference.

use coalesce_model::MemoryTexts;

use crate::support::{check, duplicate, item, moving, plan};

/// A package whose module `old` gives `f` to `new`, which exists, and a user.
fn user(before: &str, after: &str) {
    let tree = |user: &str| {
        format!(
            "//- pkg/__init__.py\n//- pkg/old.py\ndef f():\n    return 1\n\n\ndef stays():\n    return 2\n//- pkg/new.py\n\"\"\"New.\"\"\"\n\nX = 1\n//- user.py\n{user}"
        )
    };
    let after = format!(
        "//- pkg/old.py\ndef stays():\n    return 2\n//- pkg/new.py\n\"\"\"New.\"\"\"\n\nX = 1\n\n\ndef f():\n    return 1\n//- user.py\n{after}"
    );
    check(&tree(before), &[item("pkg.old.f", "pkg.new.f")], &after);
}

/// What is written, and what it becomes.
const REFERENCES: &[(&str, &str)] = &[
    ("from pkg.old import f\n", "from pkg.new import f\n"),
    (
        "from pkg.old import f as g\n",
        "from pkg.new import f as g\n",
    ),
    (
        "from pkg.old import stays, f  # both\n",
        "from pkg.old import stays  # both\nfrom pkg.new import f\n",
    ),
    (
        "import pkg.old\npkg.old.f()\n",
        "import pkg.new\npkg.new.f()\n",
    ),
    (
        "import pkg.old\npkg.old.f(pkg.old.stays())\n",
        "import pkg.old\nimport pkg.new\npkg.new.f(pkg.old.stays())\n",
    ),
    (
        "import pkg.old as o\no.f()\n",
        "import pkg.new as o\no.f()\n",
    ),
    (
        "from pkg import old\nold.f()\n",
        "from pkg import new\nnew.f()\n",
    ),
    (
        "from pkg import old\nold.f(old.stays())\n",
        "from pkg import old\nfrom pkg import new\nnew.f(old.stays())\n",
    ),
    (
        "from pkg import old\nnew = 1\nold.f()\n",
        "from pkg import new as pkg_new\nnew = 1\npkg_new.f()\n",
    ),
    (
        "from unittest import mock\nmock.patch('pkg.old.f')\nmock.patch('pkg.old.stays')\n",
        "from unittest import mock\nmock.patch('pkg.new.f')\nmock.patch('pkg.old.stays')\n",
    ),
    (
        "from pkg import old\n\n\ndef test(monkeypatch):\n    monkeypatch.setattr(old, \"f\", None)\n",
        "from pkg import new\n\n\ndef test(monkeypatch):\n    monkeypatch.setattr(new, \"f\", None)\n",
    ),
    (
        "def g():\n    from pkg.old import f\n    return f\n",
        "def g():\n    from pkg.new import f\n    return f\n",
    ),
    (
        "from pkg.old import *\nf()\n",
        "from pkg.old import *\nfrom pkg.new import f\nf()\n",
    ),
    (
        "from pkg.old import *\nstays()\n",
        "from pkg.old import *\nstays()\n",
    ),
];

#[test]
fn references_follow() {
    for (before, after) in REFERENCES {
        user(before, after);
    }
}

#[test]
fn what_stands_around_a_definition() {
    let tree = |old: &str, new: &str| {
        format!("//- pkg/__init__.py\n//- pkg/old.py\n{old}//- pkg/new.py\n{new}")
    };
    for (old, new, old_after, new_after) in [
        // No method changes a path.
        (
            "from pathlib import Path\n\nf = Path(\"a\") / \"b\"\nf.mkdir()\n",
            "",
            "from pkg.new import f\n\nf.mkdir()\n",
            "from pathlib import Path\n\nf = Path(\"a\") / \"b\"\n",
        ),
        // A block that only binds what moves goes as it is.
        (
            "try:\n    f = 1\nexcept ValueError:\n    f = 2\n\nX = 1\n",
            "\"\"\"New.\"\"\"\n",
            "X = 1\n",
            "\"\"\"New.\"\"\"\n\n\ntry:\n    f = 1\nexcept ValueError:\n    f = 2\n",
        ),
        // A logger that is named after its module is not imported back: it is made anew, …
        (
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef f():\n    logger.info(1)\n\n\ndef g():\n    logger.info(2)\n",
            "\"\"\"New.\"\"\"\n",
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef g():\n    logger.info(2)\n",
            "\"\"\"New.\"\"\"\n\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef f():\n    logger.info(1)\n",
        ),
        // … or is there, …
        (
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef f():\n    logger.info(1)\n\n\ndef g():\n    logger.info(2)\n",
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef h(): ...\n",
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef g():\n    logger.info(2)\n",
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef h(): ...\n\n\ndef f():\n    logger.info(1)\n",
        ),
        // … unless the module sets it up.
        (
            "import logging\n\nlogger = logging.getLogger(__name__)\nlogger.setLevel(1)\n\n\ndef f():\n    logger.info(1)\n",
            "\"\"\"New.\"\"\"\n",
            "import logging\n\nlogger = logging.getLogger(__name__)\nlogger.setLevel(1)\n",
            "\"\"\"New.\"\"\"\n\nfrom pkg.old import logger\n\n\ndef f():\n    logger.info(1)\n",
        ),
        // The list of names ends its file as before.
        (
            "def f(): ...\n\n\ndef g(): ...\n",
            "def h(): ...\n\n\n__all__ = [\"h\"]\n",
            "def g(): ...\n",
            "def h(): ...\n\n\ndef f(): ...\n\n\n__all__ = [\"h\", \"f\"]\n",
        ),
        // A comment stays with its entry.
        (
            "__all__ = [\"f\", \"g\"]\n\n\ndef f(): ...\n\n\ndef g(): ...\n",
            "__all__ = [\n    \"h\",  # first\n]\n\n\ndef h(): ...\n",
            "__all__ = [\"g\"]\n\n\ndef g(): ...\n",
            "__all__ = [\n    \"h\",  # first\n    \"f\",\n]\n\n\ndef h(): ...\n\n\ndef f(): ...\n",
        ),
        (
            "__all__ = [\"f\", \"g\"]\n\n\ndef f(): ...\n\n\ndef g(): ...\n",
            "__all__ = [\n    \"h\"  # first\n]\n\n\ndef h(): ...\n",
            "__all__ = [\"g\"]\n\n\ndef g(): ...\n",
            "__all__ = [\n    \"h\",  # first\n    \"f\"\n]\n\n\ndef h(): ...\n\n\ndef f(): ...\n",
        ),
    ] {
        check(
            &tree(old, new),
            &[item("pkg.old.f", "pkg.new.f")],
            &format!("//- pkg/old.py\n{old_after}//- pkg/new.py\n{new_after}"),
        );
    }
}

#[test]
fn what_a_definition_needs() {
    let tree = |old: &str, new: &str| {
        format!("//- pkg/__init__.py\n//- pkg/old.py\n{old}//- pkg/new.py\n{new}")
    };
    for (old, new, old_after, new_after) in [
        // Imports travel, those that nobody needs any more go.
        (
            "import os\nimport re\n\n\n# about f\n@deco\ndef f():\n    return os, re\n\n\ndef g():\n    return os\n",
            "",
            "import os\n\n\ndef g():\n    return os\n",
            "import os\nimport re\n\n\n# about f\n@deco\ndef f():\n    return os, re\n",
        ),
        // What the module defines is imported back.
        (
            "import os\n\nN = 1\n\n\ndef h():\n    return os\n\n\ndef f():\n    return h(), N\n",
            "import sys\n",
            "import os\n\nN = 1\n\n\ndef h():\n    return os\n",
            "import sys\nfrom pkg.old import N, h\n\n\ndef f():\n    return h(), N\n",
        ),
        // Both need each other: one of them waits until it is called.
        (
            "def h():\n    return f\n\n\ndef f():\n    \"\"\"Doc.\"\"\"\n    return h()\n",
            "",
            "from pkg.new import f\n\n\ndef h():\n    return f\n",
            "def f():\n    \"\"\"Doc.\"\"\"\n    from pkg.old import h\n    return h()\n",
        ),
        // A class body needs its base at once, so the other side waits.
        (
            "class Base:\n    def make(self):\n        return f()\n\n\nclass f(Base):\n    pass\n",
            "",
            "class Base:\n    def make(self):\n        from pkg.new import f\n        return f()\n",
            "from pkg.old import Base\n\n\nclass f(Base):\n    pass\n",
        ),
        // A constant goes below the imports.
        (
            "import os\n\n# why\nf = os.sep\ng = 1\n",
            "import sys\n\n\ndef h():\n    return sys\n",
            "g = 1\n",
            "import sys\nimport os\n\n# why\nf = os.sep\n\n\ndef h():\n    return sys\n",
        ),
        // Names that are taken there get another one.
        (
            "import numpy as np\n\n\ndef f():\n    return np.x\n",
            "np = 3\n",
            "",
            "import numpy as numpy_np\n\n\nnp = 3\n\n\ndef f():\n    return numpy_np.x\n",
        ),
        // `__all__` follows.
        (
            "__all__ = [\"f\", \"g\"]\n\n\ndef f(): ...\n\n\ndef g(): ...\n",
            "__all__ = [\n    \"h\",\n]\n\n\ndef h(): ...\n",
            "__all__ = [\"g\"]\n\n\ndef g(): ...\n",
            "__all__ = [\n    \"h\",\n    \"f\",\n]\n\n\ndef h(): ...\n\n\ndef f(): ...\n",
        ),
        // The import of what arrives goes, and what is read at once stands below.
        (
            "def f():\n    return 1\n",
            "from pkg.old import f\n\nX = f()\n",
            "",
            "\n\n\ndef f():\n    return 1\n\n\nX = f()\n",
        ),
    ] {
        check(
            &tree(old, new),
            &[item("pkg.old.f", "pkg.new.f")],
            &format!("//- pkg/old.py\n{old_after}//- pkg/new.py\n{new_after}"),
        );
    }
}

#[test]
fn a_module_is_made() {
    check(
        "//- pkg/__init__.py\nfrom .old import f\n//- pkg/old.py\nfrom __future__ import annotations\nfrom typing import TYPE_CHECKING\nfrom .other import a\n\nif TYPE_CHECKING:\n    from .other import T\n\n\ndef f(x: T) -> None:\n    return a\n\n\ndef g(y: T):\n    return f\n//- pkg/other.py\na = 1\nT = 2\n",
        &[item("pkg.old.f", "pkg.sub.new.f2")],
        "//- pkg/__init__.py\nfrom .sub.new import f2 as f\n//- pkg/old.py\nfrom __future__ import annotations\nfrom typing import TYPE_CHECKING\nfrom .sub.new import f2 as f\n\nif TYPE_CHECKING:\n    from .other import T\n\n\ndef g(y: T):\n    return f\n//- pkg/sub/__init__.py\n//- pkg/sub/new.py\nfrom __future__ import annotations\n\nfrom typing import TYPE_CHECKING\nfrom ..other import a\n\nif TYPE_CHECKING:\n    from ..other import T\n\n\ndef f2(x: T) -> None:\n    return a\n",
    );
}

#[test]
fn sets_and_modules_together() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\nN = 3\n\n\ndef f():\n    return g(N)\n\n\ndef g(x):\n    return f\n\n\ndef h():\n    return f\n//- pkg/mod.py\nfrom pkg.old import f, h\n",
        &[
            item("pkg.old.f", "pkg.core.f"),
            item("pkg.old.g", "pkg.core.g"),
            item("pkg.old.N", "pkg.core.N"),
            moving("pkg.mod", "pkg.deep.mod"),
        ],
        "//- pkg/old.py\nfrom pkg.core import f\n\n\ndef h():\n    return f\n//- pkg/mod.py\nGONE\n//- pkg/deep/__init__.py\n//- pkg/deep/mod.py\nfrom pkg.old import h\nfrom pkg.core import f\n//- pkg/core.py\nN = 3\n\n\ndef f():\n    return g(N)\n\n\ndef g(x):\n    return f\n",
    );
}

#[test]
fn a_rename_in_place() {
    check(
        "//- pkg/__init__.py\nfrom pkg.old import f\n//- pkg/old.py\ndef f(n):\n    return f(n - 1)\n\n\nX = f\n//- user.py\nfrom pkg import old\nold.f()\n",
        &[item("pkg.old.f", "pkg.old.g")],
        "//- pkg/__init__.py\nfrom pkg.old import g as f\n//- pkg/old.py\ndef g(n):\n    return g(n - 1)\n\n\nX = g\n//- user.py\nfrom pkg import old\nold.g()\n",
    );
}

#[test]
fn a_duplicate_gives_way() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\nimport os\n\n\ndef f(a, b=1):\n    return os\n\n\ndef g():\n    return f(1)\n//- pkg/new.py\ndef f2(a, *, b=2):\n    return a\n//- user.py\nfrom pkg.old import f\nf(1, b=2)\n",
        &[duplicate("pkg.old.f", "pkg.new.f2")],
        "//- pkg/old.py\nfrom pkg.new import f2 as f\n\n\ndef g():\n    return f(1)\n//- user.py\nfrom pkg.new import f2\nf2(1, b=2)\n",
    );
}

/// Uses take the new name, unless it means something else there or somebody reads the old one.
#[test]
fn uses_take_the_new_name_where_they_can() {
    let user = |name: &str, text: &str| format!("//- {name}.py\n{text}");
    let before = [
        user("plain", "from pkg.old import f\n\n\ndef run(x: \"f\"):\n    return [f(f) for _ in x]\n"),
        user("nested", "def run():\n    from pkg.old import f\n\n    return lambda: f(1)\n"),
        user("taken", "from pkg.old import f\n\ng = 1\nprint(f, g)\n"),
        user("hidden", "from pkg.old import f\n\n\ndef run(g):\n    return f(g)\n"),
        user("outer", "g = 1\n\n\ndef run():\n    from pkg.old import f\n\n    return f(g)\n"),
        user("builtin", "from other import *\nfrom pkg.old import f\n\nprint(f, g)\n"),
        user("quoted", "from pkg.old import f\n\nTABLE = {\"f\": f}\n"),
        user("looked_up", "from pkg.old import f\n\nprint(f, globals()[\"f\" + \"\"])\n"),
        user("exported", "from pkg.old import f\n\n__all__ = [\"f\"]\nprint(f)\n"),
        user("passed_on", "from pkg.old import f\n\nprint(f)\n"),
        user("reader", "import passed_on\n\nprint(passed_on.f)\n"),
        user("twice", "try:\n    from pkg.old import f\nexcept ImportError:\n    from other import f\nprint(f)\n"),
        user("in_class", "class C:\n    from pkg.old import f\n\n    x = f\n"),
        user("alias", "from pkg.old import f as h\n\nprint(h)\n"),
        user("unused", "from pkg.old import f\n"),
        user("pkg2/__init__", "from pkg.old import f\n\nprint(f)\n"),
    ]
    .concat();
    let kept = |name: &str| format!("from pkg.new import g as f{name}");
    let after = [
        user("plain", "from pkg.new import g\n\n\ndef run(x: \"g\"):\n    return [g(g) for _ in x]\n"),
        user("nested", "def run():\n    from pkg.new import g\n\n    return lambda: g(1)\n"),
        user("taken", &kept("\n\ng = 1\nprint(f, g)\n")),
        user("hidden", &kept("\n\n\ndef run(g):\n    return f(g)\n")),
        user("outer", "g = 1\n\n\ndef run():\n    from pkg.new import g as f\n\n    return f(g)\n"),
        user("builtin", &format!("from other import *\n{}", kept("\n\nprint(f, g)\n"))),
        user("quoted", &kept("\n\nTABLE = {\"f\": f}\n")),
        user("looked_up", &kept("\n\nprint(f, globals()[\"f\" + \"\"])\n")),
        user("exported", &kept("\n\n__all__ = [\"f\"]\nprint(f)\n")),
        user("passed_on", &kept("\n\nprint(f)\n")),
        user("twice", "try:\n    from pkg.new import g as f\nexcept ImportError:\n    from other import f\nprint(f)\n"),
        user("in_class", "class C:\n    from pkg.new import g as f\n\n    x = f\n"),
        user("alias", "from pkg.new import g as h\n\nprint(h)\n"),
        user("unused", &kept("\n")),
        user("pkg2/__init__", &kept("\n\nprint(f)\n")),
    ]
    .concat();
    check(
        &format!(
            "//- pkg/__init__.py\n//- other.py\nf = 1\ng = 2\n//- pkg/new.py\nX = 1\n//- pkg/old.py\ndef f(a):\n    return a\n{before}"
        ),
        &[item("pkg.old.f", "pkg.new.g")],
        &format!("//- pkg/old.py\n//- pkg/new.py\nX = 1\n\n\ndef g(a):\n    return a\n{after}"),
    );
}

#[test]
fn what_is_patched_is_what_is_read() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\nimport json\nimport os\n\n\ndef helper():\n    return os\n\n\ndef f():\n    return helper(), json, os\n\n\ndef g():\n    return f()\n//- pkg/new.py\nX = 1\n//- test_old.py\nfrom unittest import mock\n\n\n@mock.patch(\"pkg.old.f\")\n@mock.patch(\"pkg.old.helper\")\n@mock.patch(\"pkg.old.json\")\n@mock.patch(\"pkg.old.json.loads\")\ndef test(*mocks): ...\n",
        &[item("pkg.old.f", "pkg.new.f")],
        "//- pkg/old.py\nimport os\nfrom pkg import new\n\n\ndef helper():\n    return os\n\n\ndef g():\n    return new.f()\n//- pkg/new.py\nimport json\nimport os\nfrom pkg import old\n\n\nX = 1\n\n\ndef f():\n    return old.helper(), json, os\n//- test_old.py\nfrom unittest import mock\n\n\n@mock.patch(\"pkg.new.f\")\n@mock.patch(\"pkg.old.helper\")\n@mock.patch(\"pkg.new.json\")\n@mock.patch(\"pkg.new.json.loads\")\ndef test(*mocks): ...\n",
    );
}

/// What functions assign to goes with all of them, or not at all.
#[test]
fn what_is_assigned_to_goes_as_a_whole() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\n_on = True\n\n\ndef switch(on):\n    global _on\n    _on = on\n\n\ndef is_on():\n    return _on\n\n\ndef stays():\n    return is_on()\n//- user.py\nfrom pkg.old import switch\n",
        &[
            item("pkg.old._on", "pkg.new._on"),
            item("pkg.old.switch", "pkg.new.switch"),
            item("pkg.old.is_on", "pkg.new.is_on"),
        ],
        "//- pkg/old.py\nfrom pkg.new import is_on\n\n\ndef stays():\n    return is_on()\n//- pkg/new.py\n_on = True\n\n\ndef switch(on):\n    global _on\n    _on = on\n\n\ndef is_on():\n    return _on\n//- user.py\nfrom pkg.new import switch\n",
    );
}

/// What stands in brackets of a type is evaluated where no annotation is.
#[test]
fn types_that_are_values_are_needed_at_once() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\nfrom __future__ import annotations\n\nfrom typing import Mapping\n\n\nclass Value: ...\n\n\nclass Table(Mapping[str, Value]):\n    def get(self, key: Value) -> Value: ...\n",
        &[item("pkg.old.Table", "pkg.new.Table")],
        "//- pkg/old.py\nfrom __future__ import annotations\n\n\n\nclass Value: ...\n//- pkg/new.py\nfrom __future__ import annotations\n\nfrom pkg.old import Value\nfrom typing import Mapping\n\n\nclass Table(Mapping[str, Value]):\n    def get(self, key: Value) -> Value: ...\n",
    );
}

/// Imports in blocks: what only the program needs, and a block that would be empty.
#[test]
fn imports_in_blocks() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pkg.other import T\n    from pkg.other import U\n\n\ndef f(x: \"T\", y: \"U\"):\n    return 1\n\n\nif __name__ == \"__main__\":\n    import os\n\n    f(os, 2)\n//- pkg/other.py\nT = U = int\n",
        &[item("pkg.old.f", "pkg.new.f")],
        "//- pkg/old.py\nfrom typing import TYPE_CHECKING\n\n\nif __name__ == \"__main__\":\n    from pkg.new import f\n    import os\n\n    f(os, 2)\n//- pkg/new.py\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pkg.other import T, U\n\n\ndef f(x: \"T\", y: \"U\"):\n    return 1\n",
    );
}

/// What a function returns is a type outside of its body: read at once, unless it is quoted.
#[test]
fn types_of_results() {
    check(
        "//- pkg/__init__.py\n//- pkg/old.py\nfrom typing import TYPE_CHECKING\n\nfrom pkg.other import M\n\nif TYPE_CHECKING:\n    from pkg.other import T\n\n\ndef f() -> M:\n    return 1\n\n\ndef g() -> \"T\":\n    from pkg.other import T\n\n    return T\n//- pkg/other.py\nfrom pkg.new import X\nT = M = int\n//- pkg/new.py\nX = 1\n",
        &[item("pkg.old.g", "pkg.new.g")],
        "//- pkg/old.py\nfrom typing import TYPE_CHECKING\n\nfrom pkg.other import M\n\n\ndef f() -> M:\n    return 1\n//- pkg/new.py\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pkg.other import T\n\n\nX = 1\n\n\ndef g() -> \"T\":\n    from pkg.other import T\n\n    return T\n",
    );
}

/// What replaces a class, a use of it, and what is said of that.
type Fit = (&'static str, &'static str, Option<&'static str>);

const FITS: &[Fit] = &[
    (
        "class f:\n    def __init__(self, a, *, key=1): ...\n",
        "f(1, key=2)",
        None,
    ),
    (
        "class f:\n    def __init__(self, a, *, key): ...\n",
        "f(1)",
        Some("needs the argument `key`"),
    ),
    (
        "class f:\n    def __init__(self, a): ...\n",
        "f(1, 2)",
        Some("takes 1 positional"),
    ),
    (
        "class f:\n    def __init__(self, *args): ...\n",
        "f(1, 2)",
        None,
    ),
    ("class f:\n    pass\n", "f(1)", Some("takes 0 positional")),
    (
        "class f:\n    @staticmethod\n    def make(a): ...\n",
        "f.make(1)",
        None,
    ),
    (
        "class f:\n    @staticmethod\n    def make(a): ...\n",
        "f.make(1, 2)",
        Some("`f.make` does not fit `pkg.new.f.make`"),
    ),
    (
        "class f:\n    @classmethod\n    def make(cls, a): ...\n",
        "f.make(a=1)",
        None,
    ),
    (
        "class f:\n    @classmethod\n    def make(cls, a): ...\n",
        "f.make(b=1)",
        Some("takes no argument `b`"),
    ),
    (
        "class f:\n    @other\n    def make(cls, a): ...\n",
        "f.make(b=1)",
        None,
    ),
    (
        "class f:\n    @staticmethod\n    def make(a): ...\n",
        "f.build(1)",
        Some("has no such member"),
    ),
    (
        "@dataclass\nclass f:\n    a: int\n    b: int = 1\n",
        "f(1, b=2)",
        None,
    ),
    (
        "@dataclass\nclass f:\n    a: int\n    b: int = 1\n",
        "f(b=2)",
        Some("needs the argument `a`"),
    ),
    (
        "@dataclass(kw_only=True)\nclass f:\n    a: int\n",
        "f(1)",
        Some("takes 0 positional"),
    ),
    (
        "@dataclass\nclass f:\n    a: int = field(init=False)\n",
        "f()",
        None,
    ),
    (
        "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...\n",
        "f()",
        Some("needs the argument `a`"),
    ),
    (
        "def f(a, /, b): ...\n",
        "f(a=1, b=2)",
        Some("takes no argument `a`"),
    ),
    ("def f(a, **more): ...\n", "f(1, any=2)", None),
    ("def f(a, b): ...\n", "f(*a)", None),
    ("@changes\ndef f(a): ...\n", "f()", None),
];

#[test]
fn calls_of_a_replaced_item_fit_or_are_named() {
    for (new, call, expected) in FITS {
        let texts = MemoryTexts::fixture(&format!(
            "//- pkg/__init__.py\n//- pkg/old.py\nclass f:\n    pass\n//- pkg/new.py\n{new}//- user.py\nfrom pkg.old import f\n{call}\n"
        ));
        let refusals = plan(&texts, &[duplicate("pkg.old.f", "pkg.new.f")], false).refusals;
        match expected {
            Some(part) => {
                assert_eq!(refusals.len(), 1, "{new}{call}: {refusals:?}");
                assert!(
                    refusals.iter().all(|each| each.message.contains(part)),
                    "{refusals:?}"
                );
            }
            None => assert!(refusals.is_empty(), "{new}{call}: {refusals:?}"),
        }
    }
}

/// The old definition, the new one, a use, and a part of what is said; nothing where it fits.
const ROLES: &[(&str, &str, &str, Option<&str>)] = &[
    (
        "class f: ...",
        "def f(): ...",
        "isinstance(1, f)",
        Some("a class is needed"),
    ),
    (
        "class f: ...",
        "def f(): ...",
        "isinstance(1, (int, f))",
        Some("a class is needed"),
    ),
    (
        "class f: ...",
        "def f(): ...",
        "class G(f): ...",
        Some("a class is needed"),
    ),
    (
        "class f: ...",
        "def f(): ...",
        "try: g()\nexcept (f, OSError): pass",
        Some("a class is needed"),
    ),
    (
        "class f: ...",
        "def f(): ...",
        "match 1:\n    case f(): pass",
        Some("a class is needed"),
    ),
    (
        "class f: ...",
        "def f(): ...",
        "f.make",
        Some("has no such member"),
    ),
    ("class f: ...", "def f(): ...\nf.make = 1", "f.make", None),
    ("class f: ...", "def f(): ...", "f()", None),
    ("class f: ...", "class f: ...", "isinstance(1, f)", None),
    (
        "def f(a): ...",
        "class f: ...",
        "@f\ndef g(): ...",
        Some("it decorates here"),
    ),
    (
        "def f(a): ...",
        "class f:\n    def __init__(self, a): ...",
        "@f(1)\ndef g(): ...",
        Some("it decorates here"),
    ),
    (
        "def f(a): ...",
        "class f:\n    def __init__(self, a): ...\n    def __call__(self): ...",
        "@f\ndef g(): ...",
        None,
    ),
    (
        "def f(a): ...",
        "class f(Base): ...",
        "@f\ndef g(): ...",
        None,
    ),
];

#[test]
fn a_function_stands_in_for_a_class_only_where_it_can() {
    for (old, new, used, expected) in ROLES {
        let texts = MemoryTexts::fixture(&format!(
            "//- pkg/__init__.py\n//- pkg/old.py\n{old}\n//- pkg/new.py\n{new}\n//- user.py\nfrom pkg.old import f\n{used}\n"
        ));
        let refusals = plan(&texts, &[duplicate("pkg.old.f", "pkg.new.f")], false).refusals;
        match expected {
            Some(part) => assert!(
                refusals.iter().any(|each| each.message.contains(part)
                    && each.span.is_some()
                    && each.path.as_str() == "user.py"),
                "{new}: {used}: {refusals:?}"
            ),
            None => assert!(refusals.is_empty(), "{new}: {used}: {refusals:?}"),
        }
    }
}

#[test]
fn refusals() {
    let tree = |old: &str, new: &str| {
        MemoryTexts::fixture(&format!(
            "//- pkg/__init__.py\n//- pkg/old.py\n{old}//- pkg/new.py\n{new}//- user.py\nfrom pkg.old import f\nf(1, 2)\n"
        ))
    };
    for (old, new, change, message) in REFUSED {
        let change = change("pkg.old.f", "pkg.new.f");
        let refusals = plan(&tree(old, new), &[change], false).refusals;
        assert!(
            refusals
                .iter()
                .any(|refusal| refusal.message.contains(message)),
            "{old}: {refusals:?}"
        );
    }
}

type Refused = (
    &'static str,
    &'static str,
    fn(&str, &str) -> coalesce_model::Change,
    &'static str,
);

/// The old module, the new one, what becomes of `f`, and a part of what is said.
const REFUSED: &[Refused] = &[
    // More goes on in the block than that the name is bound.
    (
        "try:\n    f = 1\n    work()\nexcept E:\n    f = 2\n",
        "",
        item,
        "under a condition",
    ),
    (
        "try:\n    f = 1\nexcept E:\n    raise\n",
        "",
        item,
        "under a condition",
    ),
    (
        "try:\n    import f\nexcept E:\n    table[1] = f = 2\n",
        "",
        item,
        "under a condition",
    ),
    (
        "for f in range(3):\n    pass\n",
        "",
        item,
        "under a condition",
    ),
    // Another name of the block stays.
    (
        "try:\n    f = g = 1\nexcept E:\n    f = 2\n",
        "",
        item,
        "under a condition",
    ),
    ("f = 1\nf = 2\n", "", item, "several times"),
    (
        "f = 1\n\n\ndef g():\n    global f\n    f = 2\n",
        "",
        item,
        "`global`",
    ),
    (
        "f = []\nprint(f)\nf.append(2)\n",
        "",
        item,
        "changes it after its definition",
    ),
    (
        "f = {}\nf[1] = f[2] = 2\n",
        "",
        item,
        "changes it after its definition",
    ),
    ("def f():\n    return __file__\n", "", item, "`__file__`"),
    (
        "X = 1\n\n\ndef s():\n    global X\n    X = 2\n\n\ndef f():\n    return X\n",
        "",
        item,
        "assigns to later",
    ),
    (
        "def f():\n    return min(1, 2)\n",
        "def min(*a): ...\n",
        item,
        "is built in",
    ),
    ("a, f = 1, 2\n", "", item, "together with other names"),
    (
        "def f(a, b): ...\n",
        "def f(a): ...\n",
        duplicate,
        "takes 1 positional arguments, not 2",
    ),
];
