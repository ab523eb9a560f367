//! Moves that change what is bound when.

use coalesce_model::{Change, LanguageGraph as _, MemoryTexts, TreePath};

use crate::support::{applied, graph, item, moving, plan};

/// Checks what moving `pkg.util` to `pkg.core.util` breaks.
fn check(tree: &str, expected: &[&str]) {
    check_change(tree, &moving("pkg.util", "pkg.core.util"), expected);
}

/// Checks what a change breaks.
fn check_change(tree: &str, change: &Change, expected: &[&str]) {
    let before = MemoryTexts::fixture(tree);
    let changes = std::slice::from_ref(change);
    let files = applied(&before, &plan(&before, changes, false));
    let after = MemoryTexts::new(
        files
            .into_iter()
            .map(|(path, text)| (TreePath::new(&path).unwrap(), text.into())),
    );
    let findings = graph(&before).find_regressions(&graph(&after), changes, &before, &after);
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
fn what_is_bound_or_lazy_is_no_matter() {
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
}

#[test]
fn a_package_that_cannot_be_imported_is_no_place_for_a_module_that_can() {
    let broken = TREE.replace(
        "from .util import u\n",
        "from .util import u\nfrom .core import X\n",
    );
    check(
        &format!("{broken}from ..base import Base\nX = Base\n"),
        &[
            "would read `X` of `pkg.core` before it is bound, when `pkg.core.util` is imported first",
        ],
    );
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

/// `style` makes a style of `color.parse` while it is imported; `report` needs both.
const CALLS: &str = "//- pkg/__init__.py
//- pkg/color.py
NAMES = {1: 'red'}

class Color:
    @classmethod
    def parse(cls, name):
        return cls.read(name)

    @classmethod
    def read(cls, name):
        return NAMES[name]
//- pkg/style.py
from .color import Color
from .other import MARK

class Style:
    def __init__(self, color=None):
        self.color = color and Color.parse(color)

NULL = @CALL@
//- pkg/report.py
from .style import NULL
//- pkg/other.py
MARK = 1
";

#[test]
fn what_is_called_while_modules_are_imported_is_followed() {
    let change = item("pkg.color.NAMES", "pkg.report.NAMES");
    // Imported first, `report` comes to `style`, whose call needs what `report` has not bound yet.
    let broken: &[&str] = &["`NAMES` of `pkg.report`", "`NULL` of `pkg.style`"];
    for (code, expected) in [
        ("NULL = Style(1)", broken),
        ("NULL = [Style(each) for each in (1, 2)]", broken),
        ("NULL = Style", &[]),
        ("NULL = lambda: Style(1)", &[]),
        ("NULL = {'style': Style}", &[]),
        // Handed to what may call it.
        (
            "def make(x): return Style(x)\nNULL = list(map(make, [1]))",
            broken,
        ),
        // Decorators, bases that hear of it, and what a loop goes through.
        (
            "def keep(f):\n    Style(1)\n    return f\n\n@keep\ndef NULL(): pass",
            broken,
        ),
        (
            "class Base:\n    def __init_subclass__(cls):\n        Style(1)\n\nclass NULL(Base): pass",
            broken,
        ),
        (
            "def each():\n    yield Style(1)\n\nfor NULL in each(): pass",
            &broken[..1],
        ),
    ] {
        let tree = CALLS.replace("NULL = @CALL@", code);
        check_change(&tree, &change, expected);
    }
}

#[test]
fn a_star_that_brings_a_submodule_hides_another_of_that_name() {
    // `from pkg.algorithms import net` finds `pkg.algorithms.mix.net`, and does not execute
    // `pkg.algorithms.net` before `flow`.
    let tree = "//- pkg/__init__.py
from pkg import algorithms
//- pkg/algorithms/__init__.py
from pkg.algorithms.mix import *
from pkg.algorithms import net
from pkg.algorithms import flow
//- pkg/algorithms/mix/__init__.py
from pkg.algorithms.mix.net import *
//- pkg/algorithms/mix/net.py
def degree(): pass
//- pkg/algorithms/net/__init__.py
from .cuts import *
//- pkg/algorithms/net/cuts.py
from pkg.algorithms.flow import kolmogorov
//- pkg/algorithms/flow/__init__.py
from .maximum import *
from .kolmogorovs import *
//- pkg/algorithms/flow/maximum.py
from .dinitz import dinitz
//- pkg/algorithms/flow/kolmogorovs.py
def kolmogorov(): pass
//- pkg/algorithms/flow/dinitz.py
def dinitz(): pass
";
    let change = item(
        "pkg.algorithms.flow.dinitz.dinitz",
        "pkg.algorithms.net.new.dinitz",
    );
    check_change(tree, &change, &["`kolmogorov` of `pkg.algorithms.flow`"]);
    let other = tree.replace("from pkg.algorithms.mix import *\n", "");
    check_change(&other, &change, &[]);
}

#[test]
fn names_with_underscores_on_both_sides_are_bound_when_the_text_binds_them() {
    let tree = "//- pkg/__init__.py
from pkg.version import __version__
from pkg.http import get
//- pkg/version.py
__version__ = '1'
//- pkg/http.py
from pkg import __version__, __path__
def get(): return 1
//- pkg/key.py
from pkg.http import get
class Key(get): pass
";
    let tree = tree
        .replace("from pkg.key import Key\n", "")
        .replace("return Key", "return 1");
    check_change(
        &tree,
        &item("pkg.key.Key", "pkg.version.Key"),
        &["`__version__` of `pkg`"],
    );
}

#[test]
fn what_runs_while_modules_are_imported_waits_for_nothing() {
    check_change(
        "//- pkg/__init__.py\n//- pkg/old.py\ndef f():\n    return 1\n\n\ndef g():\n    return f()\n\n\nX = g()\n//- pkg/new.py\nfrom pkg.old import X\n",
        &item("pkg.old.f", "pkg.new.f"),
        &["`f` of `pkg.new`", "`X` of `pkg.old`"],
    );
}

#[test]
fn a_compiled_submodule_is_there_when_it_is_asked_for() {
    let tree = format!(
        "{TREE}from . import _fast\nfrom pkg.base import u\nX = _fast.x\n//- pkg/core/_fast.cpython-311-x86_64-linux-gnu.so\n"
    );
    check(&tree, &["`u` of `pkg.base`"]);
    let built = format!("{TREE}from . import _fast\nX = _fast.x\n//- pkg/core/_fast.pyx\n");
    check(&built, &[]);
}
