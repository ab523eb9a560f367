//! What Python makes of shims: each check is a program that runs in the tree after a move.

use std::{fs, process::Command};

use coalesce_model::{Change, MemoryTexts};

use crate::support::{applied, helped, item, moving, plan, replacing, shimmed};

const TREE: &str = "//- pkg/__init__.py
//- pkg/core/__init__.py
//- pkg/old.py
__all__ = [\"f\", \"C\", \"FLAG\", \"manager\"]
FLAG = False
_private = 3
class C:
    def __eq__(self, other):
        return type(self) is type(other)
def f():
    return FLAG
manager = C()
//- pkg/box/__init__.py
from .sub import inner
name = 'box'
//- pkg/box/sub.py
def inner():
    return 1
//- pkg/box/deep/__init__.py
//- pkg/box/deep/leaf.py
x = 1
//- other/__init__.py
//- other/primary.py
def g():
    return 'g'
def same():
    return 'same'
//- other/stub.py
def f():
    pass
def same():
    pass
";

fn changes() -> Vec<Change> {
    vec![
        shimmed(moving("pkg.old", "pkg.core.new")),
        shimmed(moving("pkg.box", "pkg.core.case")),
        shimmed(replacing("other.stub", "other.primary", &[("f", "g")])),
    ]
}

/// The old and new modules, and a list that collects warnings.
const PRELUDE: &str = "
import importlib, sys, warnings, pickle, inspect, subprocess
from unittest import mock
warnings.simplefilter('always')
caught = []
def showwarning(message, category, filename, lineno, file=None, line=None):
    caught.append((str(message), category, filename.rsplit('/')[-1], lineno))
warnings.showwarning = showwarning
def line():
    return sys._getframe(1).f_lineno
";

const PROGRAMS: &[(&str, &str)] = &[
    (
        "warns at import, at the importer's line",
        "
import pkg.old; here = line()
assert len(caught) == 1, caught
message, category, name, number = caught[0]
assert category is DeprecationWarning and name == 'program.py' and number == here, caught
for part in ('pkg.old', 'pkg.core.new', '4.0.0', '3.9.0'):
    assert part in message, message
",
    ),
    (
        "importlib points at its caller",
        "
old = importlib.import_module('pkg.old'); here = line()
assert caught[0][2:] == ('program.py', here), caught
new = importlib.import_module('pkg.core.new')
assert all(getattr(old, k) is getattr(new, k) for k in ['f', 'C', 'FLAG', 'manager', '_private'])
",
    ),
    (
        "warns once for each line that uses it",
        "
import pkg.old as old
del caught[:]
for _ in range(3):
    old.f
    old.f
assert len(caught) == 2, caught
",
    ),
    (
        "get, set, delete and dir reach the new module",
        "
import pkg.old as old, pkg.core.new as new
old.FLAG = True
assert new.FLAG is True and new.f() is True and old.f() is True
del old.FLAG
assert not hasattr(new, 'FLAG') and not hasattr(old, 'FLAG')
old.added = 1
assert new.added == 1
assert {'f', 'C', 'manager', 'added'} <= set(dir(old))
try:
    old.nothing
except AttributeError:
    pass
else:
    raise SystemExit('no AttributeError')
",
    ),
    (
        "mock.patch and patch.object reach the new module and undo it",
        "
import pkg.core.new as new
real = new.f
with mock.patch('pkg.old.f') as fake:
    assert new.f is fake
assert new.f is real
import pkg.old as old
with mock.patch.object(old, 'FLAG', 7):
    assert new.FLAG == 7
assert new.FLAG is False
",
    ),
    (
        "pickles go both ways and classes are the same",
        "
import pkg.old as old, pkg.core.new as new
assert isinstance(new.C(), old.C) and old.manager is new.manager
data = pickle.dumps(old.C())
assert type(pickle.loads(data)) is new.C
stale = data.replace(b'pkg.core.new', b'pkg.old'.ljust(0)) if False else b'cpkg.old\\nC\\n.'
assert pickle.loads(stale) is new.C
",
    ),
    (
        "reload, star import and submodules work",
        "
import pkg.old as old, pkg.core.new as new
before = new.C
assert importlib.reload(old) is old
assert new.C is not before and old.C is new.C
from pkg.old import *
assert f is new.f and manager is new.manager
import pkg.box.sub
from pkg.box import sub, inner
import pkg.core.case as case
assert sub is case.sub and pkg.box.sub.inner is case.sub.inner
from pkg.box.deep import leaf
from pkg.box.deep.leaf import x
assert leaf.x == x == 1
ns = {}
exec('from pkg.box import *', ns)
assert ns['name'] == 'box' and ns['inner'] is case.inner
",
    ),
    (
        "a replaced module has its old names",
        "
import other.stub as old, other.primary as new
assert old.f is new.g and old.same is new.same
assert sorted(old.__all__) == ['f', 'same'], old.__all__
assert 'f' in dir(old)
old.f = 1
assert new.g == 1
",
    ),
    (
        "an error filter stops the import and each use",
        "
import pkg.old as old
warnings.simplefilter('error')
for _ in range(2):
    try:
        old.f
    except DeprecationWarning:
        pass
    else:
        raise SystemExit('no error')
del sys.modules['pkg.old']
try:
    importlib.import_module('pkg.old')
except DeprecationWarning:
    pass
else:
    raise SystemExit('no error')
",
    ),
    (
        "it keeps no name of its own",
        "
import pkg.old as old
own = [name for name in vars(old) if not (name.startswith('__') and name.endswith('__'))]
assert own == [], own
assert old.__name__ == 'pkg.old' and old.__spec__.name == 'pkg.old'
assert not hasattr(old, '__path__')
inspect.getmembers(old)
import unittest
class T(unittest.TestCase):
    def test(self):
        with self.assertWarns(DeprecationWarning):
            warnings.warn('x', DeprecationWarning)
assert T('test').run().wasSuccessful()
",
    ),
    (
        "nothing inside uses it",
        "
import pkg, pkg.core.new, pkg.core.case, pkg.core.case.deep.leaf, other.primary
assert caught == [] and 'pkg.old' not in sys.modules
",
    ),
];

#[test]
fn python_programs_agree() {
    agree(TREE, &changes(), PROGRAMS);
}

#[test]
fn python_programs_agree_when_a_helper_is_shared() {
    let changes: Vec<Change> = changes().into_iter().map(helped).collect();
    agree(TREE, &changes, PROGRAMS);
    let texts = MemoryTexts::fixture(TREE);
    let files = applied(&texts, &plan(&texts, &changes, false));
    assert!(files.contains_key("pkg/_moved.py") && files.contains_key("other/_moved.py"));
    let shim = files.get("pkg/old.py").unwrap();
    assert!(
        shim.lines().count() < 25 && shim.contains("from pkg._moved import forward"),
        "{shim}"
    );
}

/// Items of one module that are elsewhere, one of them still used by it.
const ITEMS: &str = "//- pkg/__init__.py
from pkg.old import used
//- pkg/old.py
__all__ = ['f', 'C', 'FLAG', 'used', 'uses', 'stays']
FLAG = False
class C:
    x = 1
def f():
    return FLAG
def used():
    return 'used'
def uses():
    return used()
def stays():
    return 1
//- pkg/bare.py
def g():
    return 1
def h():
    return 2
//- user.py
from pkg.old import *
assert stays() == 1 and uses() == 'used'
";

const ITEM_PROGRAMS: &[(&str, &str)] = &[
    (
        "reading warns at the caller and gives the same object",
        "
import pkg.old, pkg.new
assert not caught, caught
here = line() + 1
assert pkg.old.C is pkg.new.C and pkg.old.f is pkg.new.f
assert {each[2:] for each in caught} == {('program.py', here)}, caught
assert 'since 3.9.0' in caught[0][0] and '`pkg.new.C`' in caught[0][0]
assert 'removed in 4.0.0' in caught[0][0]
from pkg.old import used
assert used is pkg.new.used and len(caught) == 3
",
    ),
    (
        "assigning and deleting reach the new module",
        "
import pkg.old, pkg.new
pkg.old.FLAG = True
assert pkg.new.FLAG is True and pkg.new.f() is True
pkg.old.FLAG = False
del pkg.old.FLAG
assert not hasattr(pkg.new, 'FLAG') and not hasattr(pkg.old, 'FLAG')
pkg.new.FLAG = False
with mock.patch('pkg.old.f', lambda: 'patched'):
    assert pkg.new.f() == 'patched'
assert pkg.new.f() is False
with mock.patch('pkg.old.used', lambda: 'patched'):
    assert pkg.new.used() == 'patched' and pkg.old.uses() == 'patched'
assert pkg.new.used() == 'used' and pkg.old.uses() == 'used'
",
    ),
    (
        "pickles load by both names",
        "
import pkg.new
assert pickle.loads(pickle.dumps(pkg.new.C)) is pkg.new.C
assert pickle.loads(b'cpkg.old\\nC\\n.') is pkg.new.C
",
    ),
    (
        "star imports and listings keep the names",
        "
import user
assert user.f() is False and user.C.x == 1
assert not caught, caught
import pkg.old
assert 'f' in dir(pkg.old) and 'f' in pkg.old.__all__
space = {}
exec('from pkg.bare import *', space)
assert space['g']() == 1 and space['h']() == 2
try:
    pkg.old.nothing
except AttributeError as error:
    assert 'nothing' in str(error)
else:
    raise SystemExit('no error')
",
    ),
];

#[test]
fn items_go_on_working_by_their_old_names() {
    let moved = |name: &str| shimmed(item(&format!("pkg.old.{name}"), &format!("pkg.new.{name}")));
    let mut changes: Vec<Change> = ["f", "C", "FLAG", "used"].into_iter().map(moved).collect();
    changes.push(shimmed(item("pkg.bare.g", "pkg.new.g")));
    agree(ITEMS, &changes, ITEM_PROGRAMS);
    let helped: Vec<Change> = changes.into_iter().map(helped).collect();
    agree(ITEMS, &helped, ITEM_PROGRAMS);
}

/// Runs programs in the tree that the changes leave.
fn agree(tree: &str, changes: &[Change], programs: &[(&str, &str)]) {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let texts = MemoryTexts::fixture(tree);
    let plan = plan(&texts, changes, false);
    assert_eq!(plan.refusals, []);
    let root = tempfile::tempdir().unwrap();
    for (path, text) in applied(&texts, &plan) {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut failed = Vec::new();
    for (name, program) in programs {
        let path = root.path().join("program.py");
        fs::write(&path, format!("{PRELUDE}{program}")).unwrap();
        let output = Command::new("python3")
            .arg("-B")
            .arg(&path)
            .current_dir(root.path())
            .output()
            .unwrap();
        if !output.status.success() {
            failed.push(format!(
                "{name}:\n{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_shim_names_its_manifest_and_its_names() {
    let texts = MemoryTexts::fixture(TREE);
    let tree = applied(&texts, &plan(&texts, &changes(), false));
    let shim = tree.get("pkg/old.py").unwrap();
    assert!(
        shim.starts_with("# coalesce: shim 0001-test\n\"\"\""),
        "{shim}"
    );
    assert!(
        shim.contains("if TYPE_CHECKING:\n    from pkg.core.new import (\n        C as C,\n"),
        "{shim}"
    );
    assert!(tree.contains_key("pkg/box/deep/leaf.py") && tree.contains_key("pkg/box/__init__.py"));
}

#[test]
fn a_shim_does_not_name_what_only_a_program_binds() {
    let texts = MemoryTexts::fixture(
        "//- pkg/__init__.py\n//- pkg/core/__init__.py\n//- pkg/old.py\ndef f(): pass\nif __name__ == \"__main__\":\n    import sys\n    console = sys.stdout\n",
    );
    let plan = plan(&texts, &[shimmed(moving("pkg.old", "pkg.core.new"))], false);
    let shim = applied(&texts, &plan).remove("pkg/old.py").unwrap();
    assert!(
        shim.contains("f as f,") && !shim.contains("console"),
        "{shim}"
    );
}
