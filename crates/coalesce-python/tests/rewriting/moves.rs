//! Each form of a reference, before and after.

use coalesce_model::{MemoryTexts, UnprovenKind};

use crate::support::{check, check_with, moving, plan, replacing};

/// A package with a module that moves, and a file of the caller's.
fn user(before: &str, after: &str) {
    let tree = |user: &str, module: &str| {
        format!(
            "//- pkg/__init__.py\n//- pkg/old/__init__.py\n//- pkg/old/gpu.py\n{module}//- pkg/core/__init__.py\n//- user.py\n{user}"
        )
    };
    let changes = [moving("pkg.old.gpu", "pkg.core.cuda")];
    let after =
        format!("//- pkg/old/gpu.py\nGONE\n//- pkg/core/cuda.py\nf = 1\n//- user.py\n{after}");
    check(&tree(before, "f = 1\n"), &changes, &after);
}

/// What is written, and what it becomes.
const IMPORTS: &[(&str, &str)] = &[
    (
        "from pkg.old.gpu import f\n",
        "from pkg.core.cuda import f\n",
    ),
    (
        "from pkg.old.gpu import (  # why\n    f,  # that\n)\n",
        "from pkg.core.cuda import (  # why\n    f,  # that\n)\n",
    ),
    (
        "from pkg.old import gpu\ngpu.f\n",
        "from pkg.core import cuda\ncuda.f\n",
    ),
    (
        "from pkg.old import gpu as g\ng.f\n",
        "from pkg.core import cuda as g\ng.f\n",
    ),
    (
        "from pkg.old import gpu as cuda\n",
        "from pkg.core import cuda\n",
    ),
    ("import pkg.old.gpu as g\n", "import pkg.core.cuda as g\n"),
    (
        "import os, pkg.old.gpu\npkg.old.gpu.f()\n",
        "import os, pkg.core.cuda\npkg.core.cuda.f()\n",
    ),
    (
        "from pkg.old.gpu import *\n",
        "from pkg.core.cuda import *\n",
    ),
    (
        "def g():\n    from pkg.old.gpu import f\n    return f\n",
        "def g():\n    from pkg.core.cuda import f\n    return f\n",
    ),
    (
        "try:\n    from pkg.old import gpu\nexcept ImportError:\n    gpu = None\n",
        "try:\n    from pkg.core import cuda as gpu\nexcept ImportError:\n    gpu = None\n",
    ),
    (
        "import pkg.old.gpu; x = pkg.old.gpu.f\n",
        "import pkg.core.cuda; x = pkg.core.cuda.f\n",
    ),
    (
        "from pkg.old.gpu import f\r\nx = 1\r\n",
        "from pkg.core.cuda import f\r\nx = 1\r\n",
    ),
    (
        "\u{feff}from pkg.old.gpu import f\n",
        "\u{feff}from pkg.core.cuda import f\n",
    ),
    (
        "gpu = 1\nold = gpu\ngpu_old = 'gpu'\n",
        "gpu = 1\nold = gpu\ngpu_old = 'gpu'\n",
    ),
];

#[test]
fn imports() {
    for (before, after) in IMPORTS {
        user(before, after);
    }
}

#[test]
fn mixed_lists_are_split_and_the_rest_stays() {
    for (list, rest, new) in [
        (
            "from pkg.old import gpu, other\n",
            "from pkg.old import other\n",
            "from pkg.core import cuda as gpu\n",
        ),
        (
            "from pkg.old import (\n    other,  # a\n    gpu,  # b\n    more\n)  # c\n",
            "from pkg.old import (\n    other,  # a\n    more\n)  # c\n",
            "from pkg.core import cuda as gpu  # b\n",
        ),
        (
            "if 1: from pkg.old import other, gpu\n",
            "if 1: from pkg.old import other; from pkg.core import cuda as gpu\n",
            "",
        ),
        (
            "from pkg.old import other, \\\n    gpu\n",
            "from pkg.old import other\n",
            "from pkg.core import cuda as gpu\n",
        ),
    ] {
        let before = format!(
            "//- pkg/__init__.py\n//- pkg/old/__init__.py\n//- pkg/old/gpu.py\n//- pkg/old/other.py\n//- pkg/old/more.py\n//- pkg/core/__init__.py\n//- user.py\n{list}"
        );
        let after =
            format!("//- pkg/old/gpu.py\nGONE\n//- pkg/core/cuda.py\n//- user.py\n{rest}{new}");
        check(&before, &[moving("pkg.old.gpu", "pkg.core.cuda")], &after);
    }
}

#[test]
fn relative_imports_stay_relative_on_both_sides() {
    check(
        "//- pkg/__init__.py
//- pkg/old/__init__.py
from . import gpu
from .gpu import f as f
//- pkg/old/gpu.py
from . import helper, sub
from .helper import h
from .. import top
from ..core import base
from pkg.old.helper import h as h2
from .sub.deep import d
//- pkg/old/helper.py
from .gpu import (
    f,
)
//- pkg/old/sub/__init__.py
from .. import gpu
//- pkg/old/sub/deep.py
from ..gpu import f
from .. import gpu, helper
//- pkg/core/__init__.py
//- pkg/core/base.py
from ..old.gpu import f
from ..old import gpu
//- pkg/top.py
from .old.gpu import f
",
        &[moving("pkg.old.gpu", "pkg.core.cuda")],
        "//- pkg/old/__init__.py
from ..core import cuda as gpu
from ..core.cuda import f as f
//- pkg/old/gpu.py
GONE
//- pkg/core/cuda.py
from ..old import helper, sub
from ..old.helper import h
from .. import top
from . import base
from pkg.old.helper import h as h2
from ..old.sub.deep import d
//- pkg/old/helper.py
from ..core.cuda import (
    f,
)
//- pkg/old/sub/__init__.py
from ...core import cuda as gpu
//- pkg/old/sub/deep.py
from ...core.cuda import f
from .. import helper
from ...core import cuda as gpu
//- pkg/core/base.py
from .cuda import f
from . import cuda as gpu
//- pkg/top.py
from .core.cuda import f
",
    );
}

/// A package with modules, data and a package of its own.
const NESTED_PACKAGE: &str = "//- src/pkg/__init__.py
//- src/pkg/old/__init__.py
from .a import x
from ._impl.deep import d
//- src/pkg/old/a.py
from . import b
from ._impl import deep
from ..util import u
//- src/pkg/old/b.py
//- src/pkg/old/b.pyi
from .a import x
//- src/pkg/old/_impl/__init__.py
//- src/pkg/old/_impl/deep.py
from ..a import x
from ...util import u
//- src/pkg/old/data/table.json
{}
//- src/pkg/util.py
//- tests/test_a.py
import pkg.old.a, pkg.old.b
from pkg.old import a, b
pkg.old.a.x
pkg.old.b.y
";

#[test]
fn a_package_moves_with_its_modules_and_data_and_a_nested_entry_wins() {
    check(
        NESTED_PACKAGE,
        &[
            moving("pkg.old", "pkg.core.gpu.new"),
            moving("pkg.old.b", "pkg.util_b"),
        ],
        "//- src/pkg/core/__init__.py
//- src/pkg/core/gpu/__init__.py
//- src/pkg/core/gpu/new/__init__.py
from .a import x
from ._impl.deep import d
//- src/pkg/core/gpu/new/a.py
from .... import util_b as b
from ._impl import deep
from ....util import u
//- src/pkg/util_b.py
//- src/pkg/util_b.pyi
from .core.gpu.new.a import x
//- src/pkg/core/gpu/new/_impl/__init__.py
//- src/pkg/core/gpu/new/_impl/deep.py
from ..a import x
from .....util import u
//- src/pkg/core/gpu/new/data/table.json
{}
//- src/pkg/old/__init__.py
GONE
//- src/pkg/old/a.py
GONE
//- src/pkg/old/b.py
GONE
//- src/pkg/old/b.pyi
GONE
//- src/pkg/old/_impl/__init__.py
GONE
//- src/pkg/old/_impl/deep.py
GONE
//- src/pkg/old/data/table.json
GONE
//- tests/test_a.py
import pkg.core.gpu.new.a, pkg.util_b
from pkg.core.gpu.new import a
from pkg import util_b as b
pkg.core.gpu.new.a.x
pkg.util_b.y
",
    );
}

#[test]
fn chains_get_the_imports_that_they_need() {
    for (before, after) in [
        // `pkg.old` is needed by another chain.
        (
            "import pkg.old.gpu\npkg.old.gpu.f(pkg.old.g)\n",
            "import pkg.core.cuda\nimport pkg.old\npkg.core.cuda.f(pkg.old.g)\n",
        ),
        // Nothing that the file imports loads the new module.
        (
            "import pkg\npkg.old.gpu.f\n",
            "import pkg\nimport pkg.core.cuda\npkg.core.cuda.f\n",
        ),
        (
            "from pkg import old\nold.gpu.f\nold.g\n",
            "from pkg import old\nfrom pkg.core import cuda\ncuda.f\nold.g\n",
        ),
        (
            "def f(pkg):\n    return pkg.old.gpu.f\n",
            "def f(pkg):\n    return pkg.old.gpu.f\n",
        ),
        (
            "import pkg.old.gpu\npkg.old.gpu.FLAG = 1\ndel pkg.old.gpu.FLAG\n",
            "import pkg.core.cuda\npkg.core.cuda.FLAG = 1\ndel pkg.core.cuda.FLAG\n",
        ),
        (
            "import pkg.old.gpu\nx: \"pkg.old.gpu.C\" = None\n",
            "import pkg.core.cuda\nx: \"pkg.core.cuda.C\" = None\n",
        ),
    ] {
        user(before, after);
    }
}

#[test]
fn strings_that_name_the_module() {
    for (before, after) in [
        (
            "mock.patch(\"pkg.old.gpu.f\")\n",
            "mock.patch(\"pkg.core.cuda.f\")\n",
        ),
        (
            "importlib.import_module('pkg.old.gpu')\n",
            "importlib.import_module('pkg.core.cuda')\n",
        ),
        (
            "importlib.import_module('.gpu', package='pkg.old')\n",
            "importlib.import_module('..core.cuda', package='pkg.old')\n",
        ),
        (
            "sys.modules[\"pkg.old.gpu\"]\n",
            "sys.modules[\"pkg.core.cuda\"]\n",
        ),
        ("x = \"pkg.old.gpu:f\"\n", "x = \"pkg.core.cuda:f\"\n"),
        (
            "x: \"list[pkg.old.gpu.C]\"\n",
            "x: \"list[pkg.core.cuda.C]\"\n",
        ),
        (
            "warn('use pkg.old.gpu.f, not pkg.old.gpu_old')\n",
            "warn('use pkg.core.cuda.f, not pkg.old.gpu_old')\n",
        ),
        ("open(\"pkg/old/gpu.py\")\n", "open(\"pkg/core/cuda.py\")\n"),
        (
            "open(root + '/pkg/old/gpu.py')\n",
            "open(root + '/pkg/core/cuda.py')\n",
        ),
        (
            "run(f\"python -m pkg.old.gpu {x}\")\n",
            "run(f\"python -m pkg.core.cuda {x}\")\n",
        ),
        (
            "T = '''\nimport os\nfrom pkg.old.gpu import f\nfrom pkg.old import gpu, x\n{body}\n'''\n",
            "T = '''\nimport os\nfrom pkg.core.cuda import f\nfrom pkg.old import x\nfrom pkg.core import cuda as gpu\n{body}\n'''\n",
        ),
        (
            "run(['-c', 'import pkg.old.gpu; pkg.old.gpu.f()'])\n",
            "run(['-c', 'import pkg.core.cuda; pkg.core.cuda.f()'])\n",
        ),
        (
            "x = __import__('pkg.old.gpu').old.gpu.f\n",
            "x = __import__('pkg.core.cuda').core.cuda.f\n",
        ),
        (
            "x = \"c=__import__('pkg.old.gpu').old.gpu.C)\"\n",
            "x = \"c=__import__('pkg.core.cuda').core.cuda.C)\"\n",
        ),
        (
            "x = 1\n\"\"\"\nabout pkg.old.gpu\n\"\"\"\n",
            "x = 1\n\"\"\"\nabout pkg.old.gpu\n\"\"\"\n",
        ),
        (
            "x = 'old.gpu'\ny = 'gpu'\nz = 'my.pkg.old.gpu'\n",
            "x = 'old.gpu'\ny = 'gpu'\nz = 'my.pkg.old.gpu'\n",
        ),
    ] {
        user(before, after);
    }
}

#[test]
fn doctests_change_and_prose_only_on_request() {
    let tree = "//- pkg/__init__.py
//- pkg/old.py
//- user.py
def f():
    \"\"\"Like pkg.old.g, see :func:`~pkg.old.g`.

    >>> from pkg import old
    >>> import pkg.old
    >>> pkg.old.g(
    ...     pkg.old.h)

    ```python
    from pkg.old import g
    ```
    \"\"\"
    # pkg.old.h
";
    let changes = [moving("pkg.old", "pkg.new")];
    let after = |prose: &str| {
        format!(
            "//- pkg/old.py
GONE
//- pkg/new.py
//- user.py
def f():
    \"\"\"Like {prose}.g, see :func:`~pkg.new.g`.

    >>> from pkg import new as old
    >>> import pkg.new
    >>> pkg.new.g(
    ...     pkg.new.h)

    ```python
    from pkg.new import g
    ```
    \"\"\"
    # {prose}.h
"
        )
    };
    check_with(tree, &changes, false, &after("pkg.old"));
    check_with(tree, &changes, true, &after("pkg.new"));
    let kept = plan(&MemoryTexts::fixture(tree), &changes, false).not_rewritten;
    let names: Vec<&str> = kept.iter().map(|kept| kept.name.as_str()).collect();
    assert_eq!(names, ["pkg.old.g", "pkg.old.h"]);
}

#[test]
fn packages_that_list_their_modules() {
    check(
        "//- pkg/__init__.py
import importlib
__all__ = [
    \"old\",
    \"x\",
]
x = 1
_TABLE = {\"gpu\": \".old\", \"y\": \"pkg.old\"}
def __getattr__(name):
    return importlib.import_module(_TABLE[name], __name__)
//- pkg/old.py
//- pkg/sub/__init__.py
",
        &[moving("pkg.old", "pkg.sub.new")],
        "//- pkg/__init__.py
import importlib
__all__ = [
    \"x\",
]
x = 1
_TABLE = {\"gpu\": \".sub.new\", \"y\": \"pkg.sub.new\"}
def __getattr__(name):
    return importlib.import_module(_TABLE[name], __name__)
//- pkg/old.py
GONE
//- pkg/sub/new.py
",
    );
}

#[test]
fn a_broken_file_has_its_imports_rewritten() {
    let tree = "//- pkg/__init__.py\n//- pkg/old.py\n//- user.py\nfrom pkg.old import f\ndef broken(:\n    pass\nimport pkg.old as o\n";
    let changes = [moving("pkg.old", "pkg.new")];
    check(
        tree,
        &changes,
        "//- pkg/old.py\nGONE\n//- pkg/new.py\n//- user.py\nfrom pkg.new import f\ndef broken(:\n    pass\nimport pkg.new as o\n",
    );
    assert_eq!(
        plan(&MemoryTexts::fixture(tree), &changes, false)
            .notes
            .len(),
        1
    );
}

#[test]
fn replaced_modules_give_their_users_the_primary() {
    let tree = "//- pkg/__init__.py\n//- pkg/old.py\ndef f(x): pass\ndef h(): pass\n//- pkg/new.py\ndef g(x): pass\ndef h(): pass\n//- user.py\nfrom pkg.old import f, h\nfrom pkg import old\nold.f(old.h)\n";
    check(
        tree,
        &[replacing("pkg.old", "pkg.new", &[("f", "g")])],
        "//- pkg/old.py\nGONE\n//- user.py\nfrom pkg.new import g as f, h\nfrom pkg import new\nnew.g(new.h)\n",
    );
    let refusals = plan(
        &MemoryTexts::fixture(tree),
        &[replacing("pkg.old", "pkg.new", &[])],
        false,
    )
    .refusals;
    let messages: Vec<&str> = refusals
        .iter()
        .map(|refusal| refusal.message.as_str())
        .collect();
    assert_eq!(
        messages,
        ["`f` is used here and `pkg.new` has no such name"; 2]
    );
}

#[test]
fn namespaces_and_top_level_modules() {
    check(
        "//- google/cloud/storage/__init__.py\n//- google/cloud/storage/acl.py\n//- google/cloud/storage/blob.py\nfrom google.cloud.storage.acl import A\nfrom google.cloud.storage import acl\n",
        &[moving(
            "google.cloud.storage.acl",
            "google.cloud.storage.auth.acl",
        )],
        "//- google/cloud/storage/acl.py\nGONE\n//- google/cloud/storage/auth/__init__.py\n//- google/cloud/storage/auth/acl.py\n//- google/cloud/storage/blob.py\nfrom google.cloud.storage.auth.acl import A\nfrom google.cloud.storage.auth import acl\n",
    );
    check(
        "//- tools.py\n//- pkg/__init__.py\n//- user.py\nimport tools\ntools.f()\nimport_module('tools')\n",
        &[moving("tools", "pkg.tools")],
        "//- tools.py\nGONE\n//- pkg/tools.py\n//- user.py\nimport pkg.tools as tools\ntools.f()\nimport_module('pkg.tools')\n",
    );
}

#[test]
fn a_redirect_tells_where_to_go() {
    check(
        "//- pkg/__init__.py\n//- pkg/new.py\n//- pkg/old.py\n\"\"\"Use pkg.new instead.\"\"\"\nimport warnings\nwarnings.warn(\"use pkg.new\")\nfrom pkg.new import *\n",
        &[moving("pkg.new", "pkg.core.new")],
        "//- pkg/new.py\nGONE\n//- pkg/core/__init__.py\n//- pkg/core/new.py\n//- pkg/old.py\n\"\"\"Use pkg.core.new instead.\"\"\"\nimport warnings\nwarnings.warn(\"use pkg.core.new\")\nfrom pkg.core.new import *\n",
    );
}

#[test]
fn a_module_moves_below_itself() {
    check(
        "//- pkg/__init__.py\nfrom .gpu import f\n//- pkg/gpu.py\nfrom . import util\nf = 1\n//- pkg/util.py\n",
        &[moving("pkg.gpu", "pkg.gpu.core")],
        "//- pkg/__init__.py\nfrom .gpu.core import f\n//- pkg/gpu.py\nGONE\n//- pkg/gpu/__init__.py\n//- pkg/gpu/core.py\nfrom .. import util\nf = 1\n",
    );
    let refusals = plan(
        &MemoryTexts::fixture("//- pkg/__init__.py\n//- pkg/a.py\n//- pkg/b.py\n"),
        &[moving("pkg.a", "pkg.b.a")],
        false,
    )
    .refusals;
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(
        refusals[0]
            .message
            .contains("`pkg.b` is a module, not a package")
    );
}

#[test]
fn package_lists_get_the_packages_that_are_made() {
    check(
        "//- pkg/__init__.py
//- pkg/old.py
//- pkg/z/__init__.py
//- pyproject.toml
[tool.setuptools]
packages = [
    \"pkg\",  # top
    \"pkg.z\",
]
//- setup.cfg
[options]
packages =
    pkg
    pkg.z
install_requires =
    numpy
//- setup.py
setup(packages=['pkg', 'pkg.z'])
",
        &[moving("pkg.old", "pkg.core.gpu.old")],
        "//- pkg/core/__init__.py
//- pkg/core/gpu/__init__.py
//- pkg/core/gpu/old.py
//- pkg/old.py
GONE
//- pyproject.toml
[tool.setuptools]
packages = [
    \"pkg\",  # top
    \"pkg.core\",
    \"pkg.core.gpu\",
    \"pkg.z\",
]
//- setup.cfg
[options]
packages =
    pkg
    pkg.core
    pkg.core.gpu
    pkg.z
install_requires =
    numpy
//- setup.py
setup(packages=['pkg', 'pkg.core', 'pkg.core.gpu', 'pkg.z'])
",
    );
}

#[test]
fn what_a_star_brought_by_its_list_alone_is_imported_by_name() {
    for (from, star, expected) in [
        (
            "pkg.old.gpu",
            "from pkg.old import *\n",
            "from pkg.old import *\nfrom pkg.core import gpu\n",
        ),
        (
            "pkg.old.gpu",
            "from .old import *\n",
            "from .old import *\nfrom .core import gpu\n",
        ),
    ] {
        let tree = format!(
            "//- pkg/__init__.py\n//- pkg/old/__init__.py\n__all__ = [\"gpu\", \"other\"]\n//- pkg/old/gpu.py\n//- pkg/old/other.py\n//- pkg/core/__init__.py\n//- pkg/user.py\n{star}gpu.f(other)\n//- pkg/idle.py\n{star}def g(gpu): return gpu\n"
        );
        let after = format!(
            "//- pkg/old/__init__.py\n__all__ = [\"other\"]\n//- pkg/old/gpu.py\nGONE\n//- pkg/core/gpu.py\n//- pkg/user.py\n{expected}gpu.f(other)\n"
        );
        check(&tree, &[moving(from, "pkg.core.gpu")], &after);
    }
}

#[test]
fn a_package_that_nothing_loads_any_more_is_imported_where_it_is_used() {
    let moved = [moving("pkg.old.gpu", "pkg.core.gpu")];
    for (user, expected) in [
        (
            "import pkg\npkg.old.g()\n",
            "import pkg\nimport pkg.old\npkg.old.g()\n",
        ),
        (
            "import pkg as p\ndef f(): return p.old.other.g\n",
            "import pkg as p\nimport pkg.old\ndef f(): return p.old.other.g\n",
        ),
        ("import pkg, pkg.old.other\npkg.old.g()\n", ""),
        ("import pkg\nfrom pkg import old\npkg.old.g()\n", ""),
    ] {
        let tree = |init: &str, core: &str, user: &str| {
            format!(
                "//- pkg/__init__.py\nfrom .{init} import f\n//- pkg/old/__init__.py\nfrom . import other\ndef g(): pass\n//- pkg/old/other.py\n//- pkg/old/gpu.py\n{core}//- pkg/core/__init__.py\n//- user.py\n{user}"
            )
        };
        let after = if expected.is_empty() { user } else { expected };
        check(
            &tree("old.gpu", "f = 1\n", user),
            &moved,
            &format!(
                "//- pkg/__init__.py\nfrom .core.gpu import f\n//- pkg/old/gpu.py\nGONE\n//- pkg/core/gpu.py\nf = 1\n//- user.py\n{after}"
            ),
        );
        // The moved module goes on loading it.
        check(
            &tree("old.gpu", "from .other import f\n", user),
            &moved,
            &format!(
                "//- pkg/__init__.py\nfrom .core.gpu import f\n//- pkg/old/gpu.py\nGONE\n//- pkg/core/gpu.py\nfrom ..old.other import f\n//- user.py\n{user}"
            ),
        );
    }
}

#[test]
fn lazy_tables_follow_below_their_package_and_are_refused_elsewhere() {
    let tree = "//- pkg/__init__.py
import lazy_loader as lazy
__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={\"old\": [\"f\"], 'x': ['g']},
)
//- pkg/old.py
//- pkg/x.py
//- pkg/sub/__init__.py
import lazy_loader as lazy
__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
//- pkg/sub/__init__.pyi
from .leaf import g
//- pkg/sub/leaf.py
";
    check(
        tree,
        &[
            moving("pkg.old", "pkg.sub.new"),
            moving("pkg.sub.leaf", "pkg.sub.deep.leaf"),
        ],
        "//- pkg/__init__.py
import lazy_loader as lazy
__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={\"sub.new\": [\"f\"], 'x': ['g']},
)
//- pkg/old.py
GONE
//- pkg/sub/new.py
//- pkg/sub/__init__.pyi
from .deep.leaf import g
//- pkg/sub/leaf.py
GONE
//- pkg/sub/deep/__init__.py
//- pkg/sub/deep/leaf.py
",
    );
    let leaving = [
        moving("pkg.old", "other.new"),
        moving("pkg.sub.leaf", "pkg.leaf"),
    ];
    let tree = format!("{tree}//- other/__init__.py\n");
    let refusals = plan(&MemoryTexts::fixture(&tree), &leaving, false).refusals;
    assert_eq!(refusals.len(), 2, "{refusals:?}");
}

#[test]
fn part_names_are_reported_and_stay() {
    let tree = "//- pkg/__init__.py\n//- pkg/a/__init__.py\n//- pkg/a/old.py\n//- user.py\n# see old.py and a/old.py\nx = 'a.old is gone'\nold = Path('a') / 'old.py'\n";
    let changes = [moving("pkg.a.old", "pkg.new")];
    check(tree, &changes, "//- pkg/a/old.py\nGONE\n//- pkg/new.py\n");
    let kept = plan(&MemoryTexts::fixture(tree), &changes, false).not_rewritten;
    let names: Vec<&str> = kept.iter().map(|kept| kept.name.as_str()).collect();
    assert_eq!(names, ["old.py", "old.py", "old.py", "a.old"]);
}

#[test]
fn bare_names_that_are_looked_up_in_the_package_are_reported() {
    for (user, count) in [
        ("import pkg.a as a\nhasattr(a, 'old')\n", 1),
        (
            "import pkg.a\nmock.patch.object(\n    pkg.a,\n    \"old\",\n)\n",
            1,
        ),
        ("__import__('pkg.a', fromlist=['x', 'old'])\n", 1),
        (
            "import pkg\nhasattr(pkg, 'old')\nx = ['old', 'old']\nf(a, 'old')\n",
            0,
        ),
    ] {
        let tree = format!(
            "//- pkg/__init__.py\n//- pkg/a/__init__.py\n//- pkg/a/old.py\n//- user.py\n{user}"
        );
        let kept = plan(
            &MemoryTexts::fixture(&tree),
            &[moving("pkg.a.old", "pkg.new")],
            false,
        )
        .not_rewritten;
        assert_eq!(kept.len(), count, "{user}{kept:?}");
    }
}

#[test]
fn a_package_of_a_namespace_that_nobody_imports_is_called_like_its_neighbours() {
    check(
        "//- plugins/a/space/a/__init__.py\n//- plugins/a/space/a/old.py\n//- plugins/a/space/a/conf.py\nfrom .old import f\n//- plugins/b/space/b/__init__.py\n//- plugins/b/tests/test_b.py\nfrom space.b import f\n//- conf/run.py\nx = 'space.a.old.f'\n",
        &[moving("space.a.old", "space.a.core.new")],
        "//- plugins/a/space/a/old.py\nGONE\n//- plugins/a/space/a/core/__init__.py\n//- plugins/a/space/a/core/new.py\n//- plugins/a/space/a/conf.py\nfrom .core.new import f\n//- conf/run.py\nx = 'space.a.core.new.f'\n",
    );
}

#[test]
fn a_module_stays_in_its_root_where_several_have_the_package() {
    check(
        "//- a/app/tests/__init__.py\n//- a/app/tests/more/__init__.py\n//- a/app/tests/test_a.py\n//- tests/__init__.py\n//- tests/test_b.py\nfrom tests.util import f\n//- tests/util.py\n//- z/app/tests/__init__.py\n//- z/app/tests/more/__init__.py\n",
        &[moving("tests.util", "tests.more.util")],
        "//- tests/util.py\nGONE\n//- tests/more/__init__.py\n//- tests/more/util.py\n//- tests/test_b.py\nfrom tests.more.util import f\n",
    );
}

#[test]
fn compiled_modules_that_move_along_are_not_proven() {
    for file in ["_fast.cpython-311-x86_64-linux-gnu.so", "_fast.pyx"] {
        let tree = format!(
            "//- pkg/__init__.py\n//- pkg/sub/__init__.py\nfrom ._fast import f\n//- pkg/sub/{file}\n//- pkg/sub/plain.py\n//- pkg/other/__init__.py\n"
        );
        let texts = MemoryTexts::fixture(&tree);
        let kinds = |change| {
            let unproven = plan(&texts, &[change], false).unproven;
            unproven
                .into_iter()
                .map(|each| each.kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            kinds(moving("pkg.sub", "pkg.other.sub")),
            [UnprovenKind::Generated]
        );
        // It stays where it is.
        assert_eq!(kinds(moving("pkg.sub.plain", "pkg.other.plain")), []);
    }
}
