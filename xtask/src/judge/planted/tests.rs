//! Copies of small modules, as they are written down.

use super::*;
use crate::judge::consolidation::Kind;

const SHAPES: &str = "\
import math
from . import units
from .units import SCALE, half

LIMIT = 3


def area(side):
    \"\"\"Of a square.\"\"\"
    total = side * side
    if total > LIMIT:
        total = half(total)
    return total * SCALE


# Of a circle.
def circle(radius):
    if radius < 0:
        return 0
    return area(radius) * math.pi
";

const LEVELS: &str = "\
//! Levels.

use std::fmt;
use super::units::{half, Unit};

/// A level.
#[derive(Debug)]
pub struct Level(u32);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, \"{}\", raised(self.0))
    }
}

fn raised(level: u32) -> u32 {
    let sum = level + 2;
    if sum > 7 {
        return half(sum);
    }
    super::units::double(sum)
}

pub(super) fn unit() -> Unit {
    Unit
}

#[cfg(test)]
mod tests {
    use super::*;
}
";

fn python(text: &str) -> Code {
    Code::read(
        LanguageKind::Python,
        &TreePath::new("pkg/shapes.py").unwrap(),
        text,
    )
    .unwrap()
}

fn rust(text: &str) -> Code {
    Code::read(
        LanguageKind::Rust,
        &TreePath::new("src/levels.rs").unwrap(),
        text,
    )
    .unwrap()
}

fn spot(module: &str) -> Spot<'_> {
    Spot {
        module,
        package: false,
    }
}

/// Every text that some seeds give.
fn texts(what: Change, code: &Code, module: &str) -> BTreeSet<String> {
    let of = |seed| change(what, code, (None, spot(module)), &mut Random::new(seed));
    (0..30).filter_map(of).map(|changed| changed.text).collect()
}

fn has(texts: &BTreeSet<String>, part: &str) -> bool {
    texts.iter().any(|text| text.contains(part))
}

/// A folder with these files.
pub(in crate::judge) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    crate::bench::trees::lay_out(folder.path(), files).unwrap();
    folder
}

#[test]
fn a_local_is_renamed_wherever_it_stands() {
    let renamed = texts(Change::Locals, &python(SHAPES), "pkg.shapes");
    let total = "total_value = side * side\n    if total_value > LIMIT:\n        total_value = half(total_value)\n    return total_value * SCALE";
    assert_eq!(renamed.len(), 1, "{renamed:?}");
    assert!(has(&renamed, total), "{renamed:?}");
    let renamed = texts(Change::Locals, &rust(LEVELS), "one::levels");
    assert!(
        has(&renamed, "let sum_value = level + 2;\n    if sum_value > 7"),
        "{renamed:?}"
    );
}

#[test]
fn a_local_that_a_text_names_is_left_alone() {
    let code = python("def f(side):\n    total = side\n    return f'{total}' + total\n");
    assert!(texts(Change::Locals, &code, "pkg.shapes").is_empty());
}

#[test]
fn controls_differ_where_something_is_done() {
    let numbers = texts(Change::Constant, &python(SHAPES), "pkg.shapes");
    assert!(
        has(&numbers, "LIMIT = 4") && has(&numbers, "if radius < 1"),
        "{numbers:?}"
    );
    let branches = texts(Change::Branch, &python(SHAPES), "pkg.shapes");
    assert!(
        has(&branches, "total = side * side\n    return total"),
        "{branches:?}"
    );
    assert!(
        has(&branches, "def circle(radius):\n    return area"),
        "{branches:?}"
    );
    let branches = texts(Change::Branch, &rust(LEVELS), "one::levels");
    assert!(
        has(&branches, "let sum = level + 2;\n    \n    super"),
        "{branches:?}"
    );
}

#[test]
fn what_calls_something_else_differs_too() {
    let callee = change(
        Change::Callee,
        &python(SHAPES),
        (None, spot("pkg.shapes")),
        &mut Random::new(3),
    );
    let name = callee.unwrap().name.unwrap();
    assert!(name == "area" || name == "LIMIT", "{name}");
    let reached = python(SHAPES).reached_by("LIMIT");
    let expected = ["LIMIT", "area", "circle"].map(str::to_owned);
    assert_eq!(reached, BTreeSet::from(expected));
    let reached = rust(LEVELS).reached_by("raised");
    assert_eq!(
        reached,
        BTreeSet::from(["Level", "raised"].map(str::to_owned))
    );
}

#[test]
fn harmless_changes_are_written_as_people_write_them() {
    let code = python(SHAPES);
    assert!(has(
        &texts(Change::Parameter, &code, "pkg.shapes"),
        "def area(side, quiet=False):"
    ));
    let imports = texts(Change::Imports, &code, "pkg.shapes");
    assert!(
        has(
            &imports,
            "from pkg.units import SCALE\nfrom pkg.units import half\n"
        ),
        "{imports:?}"
    );
    assert!(has(&imports, "from pkg import units\n"), "{imports:?}");
    let imports = texts(Change::Imports, &rust(LEVELS), "one::levels");
    assert!(
        has(
            &imports,
            "use crate::units::half;\nuse crate::units::Unit;\n"
        ),
        "{imports:?}"
    );
    let order = texts(Change::Order, &code, "pkg.shapes");
    assert_eq!(order.len(), 1);
    let order = order.first().unwrap();
    assert!(order.find("def circle") < order.find("def area"), "{order}");
    assert!(order.contains("# Of a circle.\ndef circle"), "{order}");
    assert!(has(
        &texts(Change::Words, &code, "pkg.shapes"),
        "\"\"\"As elsewhere: Of a square."
    ));
}

#[test]
fn an_item_is_copied_with_what_it_needs() {
    let code = python(SHAPES);
    let gathered = gather(&code, spot("pkg.shapes"), "circle", (false, true)).unwrap();
    let names = ["LIMIT", "area", "circle"].map(str::to_owned);
    assert_eq!(gathered.names, BTreeSet::from(names));
    let target =
        python("\"\"\"Others.\"\"\"\nimport math\nfrom .shapes import area, circle\n\nX = 1\n");
    let place = spot("pkg.others");
    // `area` stands there by an import of its own, which is not the copied one.
    assert!(
        put_into(
            &target,
            place,
            (&gathered, &gathered.text),
            "pkg.shapes.circle"
        )
        .is_none()
    );
    let shared = gather(&code, spot("pkg.shapes"), "circle", (true, true)).unwrap();
    let text = put_into(&target, place, (&shared, &shared.text), "pkg.shapes.circle").unwrap();
    let expected = "\"\"\"Others.\"\"\"\nimport math\nfrom pkg.shapes import area\n\nX = 1\n\n\n# Of a circle.\ndef circle(radius):\n";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_type_is_copied_with_its_implementations() {
    let gathered = gather(&rust(LEVELS), spot("one::levels"), "Level", (false, true)).unwrap();
    let text = &gathered.text;
    assert!(
        text.starts_with("/// A level.\n#[derive(Debug)]\npub struct Level(u32);"),
        "{text}"
    );
    assert!(
        text.contains("impl fmt::Display for Level") && text.contains("fn raised"),
        "{text}"
    );
    assert_eq!(
        gathered.imports.get("half"),
        Some(&("one::units::half".to_owned(), false))
    );
    assert!(!gathered.imports.contains_key("Unit"));
}

#[test]
fn a_copied_module_leads_to_what_the_original_leads_to() {
    let text = text_elsewhere(&python(SHAPES), spot("pkg.inner.shapes"), false).unwrap();
    assert!(
        text.contains("from pkg.inner import units\nfrom pkg.inner.units import SCALE, half\n"),
        "{text}"
    );
    let text = text_elsewhere(&rust(LEVELS), spot("one::inner::levels"), false).unwrap();
    assert!(
        text.contains("use crate::inner::units::{half, Unit};"),
        "{text}"
    );
    assert!(text.contains("crate::inner::units::double(sum)"), "{text}");
    assert!(text.contains("pub(crate) fn unit()"), "{text}");
    assert!(text.contains("mod tests {\n    use super::*;"), "{text}");
}

#[test]
fn a_seed_plants_the_same_each_time_and_some_users_follow() {
    let folder = tree(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("pkg/__init__.py", "VERSION = 1\n"),
        (
            "pkg/units.py",
            "SCALE = 2\n\n\ndef half(value):\n    return value / 2\n",
        ),
        ("pkg/shapes.py", SHAPES),
        (
            "pkg/first.py",
            "from .shapes import area, circle\n\nONE = area(1) + circle(1)\n",
        ),
        (
            "pkg/second.py",
            "from pkg.shapes import area\n\nTWO = area(2)\n",
        ),
    ]);
    let arguments = Arguments::parse(vec![folder.path().to_str().unwrap().to_owned()]).unwrap();
    let planted = |seed| {
        let plant = Tree::read(folder.path(), &arguments)
            .unwrap()
            .plant(&mut Random::new(seed));
        plant.map(|plant| (plant.told(), plant.texts))
    };
    let all: Vec<_> = (0..60).filter_map(planted).collect();
    assert!(all.len() > 5, "{}", all.len());
    assert_eq!(all, (0..60).filter_map(planted).collect::<Vec<_>>());
    let users = ["pkg/first.py", "pkg/second.py"].map(|path| TreePath::new(path).unwrap());
    let follows = all
        .iter()
        .filter(|(_, texts)| users.iter().any(|user| texts.contains_key(user)));
    assert!(follows.count() > 2);
    assert!(all.iter().any(|(told, _)| told.contains("differ: ")));
}

#[test]
fn what_differs_is_not_decided_on_unless_a_merge_says_so() {
    let folder = tree(&[("pkg/a.py", "A = 1\n")]);
    let arguments = Arguments::parse(vec![folder.path().to_str().unwrap().to_owned()]).unwrap();
    let plant = Plant {
        language: LanguageKind::Python,
        is_module: true,
        original: "pkg.a".to_owned(),
        copy: "pkg.b".to_owned(),
        changes: vec![Change::Constant],
        differs: BTreeSet::from(["f".to_owned()]),
        decides: BTreeSet::from(["f".to_owned()]),
        items: vec!["f".to_owned(), "g".to_owned()],
        files: Vec::new(),
        texts: BTreeMap::new(),
        is_original_used: true,
        others: Vec::new(),
    };
    let mut random = Random::new(5);
    let drawn: Vec<_> = (0..80)
        .filter_map(|_| draw(std::slice::from_ref(&plant), &mut random, &arguments))
        .collect();
    for done in &drawn {
        let differs = &done.planted.as_ref().unwrap().differs;
        let decided = !done.decide.is_empty();
        let other = done.from.ends_with(".g");
        assert_eq!(differs.is_empty(), decided || other, "{}", done.summary());
        assert!(done.kind == Kind::Merge || !decided, "{}", done.summary());
    }
    let decided = drawn
        .iter()
        .filter(|done| done.manifest().contains("decide = { f = \"keep-"));
    assert!(decided.count() > 5);
    let unused = Plant {
        is_original_used: false,
        ..plant
    };
    let drawn =
        (0..80).filter_map(|_| draw(std::slice::from_ref(&unused), &mut random, &arguments));
    for done in drawn.filter(|done| done.kind == Kind::Replace && done.from == "pkg.a") {
        assert!(done.planted.unwrap().differs.is_empty());
    }
}

#[test]
fn a_type_that_can_be_named_is_imported_and_not_copied() {
    let code = rust(
        "pub struct Level(pub u32);\n\nconst LIMIT: u32 = 3;\n\npub fn raised(level: Level) -> Level {\n    Level(level.0 + LIMIT)\n}\n",
    );
    let gathered = gather(&code, spot("one::levels"), "raised", (false, true)).unwrap();
    let names = ["LIMIT", "raised"].map(str::to_owned);
    assert_eq!(gathered.names, BTreeSet::from(names));
    let level = gathered.imports.get("Level");
    assert_eq!(level, Some(&("one::levels::Level".to_owned(), false)));
    assert!(gather(&code, spot("one::levels"), "raised", (false, false)).is_none());
}

#[test]
fn a_glob_of_the_target_itself_is_not_imported_there() {
    let code = rust("use crate::units::*;\n\npub fn one() -> u32 {\n    half(2)\n}\n");
    let gathered = gather(&code, spot("one::levels"), "one", (false, true)).unwrap();
    let text = |module| {
        let target = rust("pub fn half(of: u32) -> u32 {\n    of / 2\n}\n");
        let put = put_into(
            &target,
            spot(module),
            (&gathered, &gathered.text),
            "one::levels::one",
        );
        put.unwrap()
    };
    assert!(
        !text("one::units").contains("use "),
        "{}",
        text("one::units")
    );
    assert!(
        text("one::others").contains("use crate::units::*;"),
        "{}",
        text("one::others")
    );
}

#[test]
fn what_is_implemented_for_others_is_there_once() {
    assert!(can_be_two(&rust(LEVELS)));
    let other = "use super::Unit;\n\npub struct Level;\n\nimpl From<Level> for Unit {\n    fn from(_: Level) -> Self {\n        Unit\n    }\n}\n";
    assert!(can_be_two(&rust(other)));
    assert!(!can_be_two(&rust(&format!("{other}\nimpl Unit {{}}\n"))));
    let exported = format!("{other}\n#[macro_export]\nmacro_rules! one {{ () => {{}} }}\n");
    assert!(!can_be_two(&rust(&exported)));
}

#[test]
fn a_branch_that_is_a_value_and_the_length_of_an_array_stay() {
    let code = rust("fn f(a: u32) -> u32 {\n    if a > 3 { one() } else { two() }\n}\n");
    assert!(texts(Change::Branch, &code, "one::levels").is_empty());
    let code = rust("fn f(a: u32) {\n    if a > 3 { one(); } else { two(); }\n    three();\n}\n");
    let branches = texts(Change::Branch, &code, "one::levels");
    assert_eq!(branches.len(), 1, "{branches:?}");
    assert!(
        has(&branches, "if a > 3 { one(); } \n    three();"),
        "{branches:?}"
    );
    let code = rust("const ALL: [u8; 2] = [7, 9];\n");
    let numbers = texts(Change::Constant, &code, "one::levels");
    assert_eq!(numbers.len(), 2, "{numbers:?}");
    assert!(!has(&numbers, "[u8; 3]"), "{numbers:?}");
}

/// A module that is used by an import, by a path and by a re-export.
const USED_LEVELS: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    (
        "src/lib.rs",
        "mod first;\nmod levels;\nmod second;\nmod units;\npub use levels::raised;\n",
    ),
    (
        "src/units.rs",
        "pub fn half(of: u32) -> u32 {\n    of / 2\n}\n",
    ),
    (
        "src/levels.rs",
        "pub fn raised(level: u32) -> u32 {\n    let sum = level + 2;\n    crate::units::half(sum)\n}\n",
    ),
    (
        "src/first.rs",
        "use crate::levels::raised;\n\npub fn first() -> u32 {\n    raised(1)\n}\n",
    ),
    (
        "src/second.rs",
        "pub fn second() -> u32 {\n    crate::levels::raised(2)\n}\n",
    ),
];

#[test]
fn a_module_of_rust_has_other_users_to_be_tried_with_and_one_that_all_follow() {
    let folder = tree(USED_LEVELS);
    let arguments = Arguments::parse(vec![folder.path().to_str().unwrap().to_owned()]).unwrap();
    let tree = Tree::read(folder.path(), &arguments).unwrap();
    let plants = (0..400).filter_map(|seed| tree.plant(&mut Random::new(seed)));
    let mut of_levels =
        plants.filter(|plant| plant.is_module && plant.copy.starts_with("one::levels"));
    let mut plant = of_levels.next().unwrap();
    let copy = plant.copy.rsplit("::").next().unwrap().to_owned();
    let mut all = vec![plant.texts.clone()];
    while plant.change_users() {
        all.push(plant.texts.clone());
    }
    assert!(all.len() > 2, "{all:?}");
    let follows = |texts: &Texts, file: &str, old: &str| {
        let text = texts.get(&TreePath::new(file).unwrap());
        text.is_some_and(|text| text.contains(&format!("{copy}::raised")) && !text.contains(old))
    };
    let everyone = all.last().unwrap();
    assert!(
        follows(everyone, "src/first.rs", "use crate::levels::raised"),
        "{everyone:?}"
    );
    assert!(
        follows(everyone, "src/second.rs", "crate::levels::raised"),
        "{everyone:?}"
    );
    assert!(
        follows(everyone, "src/lib.rs", "pub use levels::raised"),
        "{everyone:?}"
    );
    let apart = all.iter().any(|texts| {
        !follows(texts, "src/first.rs", "use crate::levels::raised")
            || !follows(texts, "src/second.rs", "crate::levels::raised")
    });
    assert!(apart, "{all:?}");
}

#[test]
fn what_is_for_tests_alone_means_nothing_to_others() {
    let code = rust(
        "#[cfg(test)]\nfn f(a: u32) -> u32 {\n    a + 3\n}\n\nfn g(a: u32) -> u32 {\n    a + 5\n}\n\n#[cfg(test)]\nmod tests {\n    fn h() {\n        super::g(1);\n    }\n}\n",
    );
    let numbers = texts(Change::Constant, &code, "one::levels");
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    assert!(has(&numbers, "a + 6"), "{numbers:?}");
    assert_eq!(code.reached_by("g"), BTreeSet::from(["g".to_owned()]));
}
