//! Moves that change what is bound when.

use coalesce_model::{LanguageGraph as _, MemoryTexts, TreePath};

use crate::support::{applied, graph, moving, plan};

/// Checks what moving `pkg.util` to `pkg.core.util` breaks.
fn check(tree: &str, expected: &[&str]) {
    let before = MemoryTexts::fixture(tree);
    let changes = [moving("pkg.util", "pkg.core.util")];
    let files = applied(&before, &plan(&before, &changes, false));
    let after = MemoryTexts::new(
        files
            .into_iter()
            .map(|(path, text)| (TreePath::new(&path).unwrap(), text.into())),
    );
    let findings = graph(&before).order_regressions(&graph(&after), &changes, &before, &after);
    let messages: Vec<String> = findings
        .iter()
        .map(|finding| format!("{}: {}", finding.path, finding.message))
        .collect();
    assert_eq!(messages.len(), expected.len(), "{messages:?}");
    for (message, part) in messages.iter().zip(expected) {
        assert!(message.contains(part), "{message}");
    }
}

const TREE: &str = "//- pkg/__init__.py
//- pkg/util.py
u = 1
//- pkg/core/__init__.py
from .x import X
//- pkg/base.py
from .util import u
class Base: pass
//- pkg/core/x.py
";

#[test]
fn a_name_that_is_not_bound_yet_is_refused() {
    check(
        &format!("{TREE}from ..base import Base\nclass X(Base): pass\n"),
        &[
            "pkg/core/x.py: after the migration, `pkg.core.x` would read `Base` of `pkg.base` before it is bound, when `pkg.base` is imported first",
        ],
    );
    check(
        &format!("{TREE}from pkg import base\nclass X(base.Base): pass\n"),
        &["`Base` of `pkg.base`"],
    );
    check(
        &format!("{TREE}import pkg.base as b\ndef f(x=b.Base): pass\nX = 1\n"),
        &["`Base` of `pkg.base`"],
    );
}

#[test]
fn what_is_bound_or_lazy_or_failed_before_is_no_matter() {
    for tail in [
        "from ..base import u\nX = u\n",
        "from pkg import base\ndef X(): return base.Base\n",
        "def X():\n    from ..base import Base\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..base import Base\nX = 1\n",
        "X = 1\nif __name__ == '__main__':\n    from ..base import Base\n",
        "from pkg import base\nX = 1\nif '__main__' == __name__:\n    print(base.Base)\n",
    ] {
        let expected: &[&str] = if tail.starts_with("from ..base import u") {
            &["`u` of `pkg.base`"]
        } else {
            &[]
        };
        check(&format!("{TREE}{tail}"), expected);
    }
    let broken = TREE.replace(
        "from .util import u\n",
        "from .util import u\nfrom .core import X\n",
    );
    check(&format!("{broken}from ..base import Base\nX = Base\n"), &[]);
}

#[test]
fn a_package_without_a_file_does_not_hide_the_ones_above_it() {
    let tree = "//- pkg/__init__.py
from .base import Base
//- pkg/base.py
from .util import u
class Base: pass
//- pkg/util.py
from pkg.errors import E
u = 1
//- pkg/errors.py
class E: pass
//- pkg/core/plain.py
";
    check(tree, &[]);
}

#[test]
fn what_a_later_star_brings_is_not_bound_yet() {
    let late = "from .util import *\nfrom .classes import *\n";
    let early = "from .classes import *\nfrom .util import *\n";
    for (order, tail, expected) in [
        (late, "", &["`density` of `pkg`"][..]),
        (
            late,
            "def __getattr__(name): ...\n",
            &["`density` of `pkg`"],
        ),
        (early, "def __getattr__(name): ...\n", &[]),
        (early, "", &[]),
    ] {
        let tree = format!(
            "//- pkg/__init__.py
{order}from .core import *
{tail}//- pkg/util.py
u = 1
//- pkg/classes.py
def density(): pass
//- pkg/core/__init__.py
from .user import g
//- pkg/core/user.py
from pkg import density
g = density
"
        );
        check(&tree, expected);
    }
    // `__getattr__` may bring what nothing else does.
    let lazy = "//- pkg/__init__.py\nfrom .util import *\nfrom .core import *\nif TYPE_CHECKING:\n    from .core.user import density\ndef __getattr__(name): ...\n//- pkg/util.py\nu = 1\n//- pkg/core/__init__.py\nfrom .user import g\n//- pkg/core/user.py\nfrom pkg import density as d\ng = 1\ndensity = 1\n";
    check(lazy, &[]);
}
