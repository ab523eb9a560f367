//! Passages: statements in a row that stand in long functions, or at the top of scripts, which are no copies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fmt::Write as _, sync::Arc};

use coalesce_clones::{Duplicate, Options, SourceFile, find};
use coalesce_model::{TreePath, envelope::DuplicateKind};
use coalesce_python::Python;

/// Twelve statements that stand together in several places.
const PASSAGE: &str = "\
parser = argparse.ArgumentParser(description='point clouds')
parser.add_argument('--voxel', type=float, default=0.05)
parser.add_argument('--neighbours', type=int, default=16)
parser.add_argument('--device', choices=['cpu', 'cuda'], default='cuda')
parser.add_argument('--batch', type=int, default=4096)
parser.add_argument('--output', required=True)
options = parser.parse_args()
if options.voxel <= 0:
    parser.error('voxel must be positive')
if options.neighbours < 3:
    parser.error('neighbours must be three or more')
cloud = read_cloud(options.output, options.batch)
";

/// Statements that stand nowhere else, and of which neither two of a name nor two of one place have one form.
fn own(name: &str, count: usize) -> String {
    let seed: usize = name.bytes().map(usize::from).sum();
    let mut text = String::new();
    for at in 0..count {
        let number = seed * 100 + at;
        let line = match (seed >> (at % 5)) % 4 + at % 2 {
            0 => format!("{name}.push_{number}({number}, '{name}-{at}')"),
            1 => format!("assert {name}.limit_{number}[{number}] != {name}.bound_{number}"),
            2 => format!("del {name}.table_{number}['{name} {at}'], {name}.rows_{number}"),
            3 => format!("x = [y.cell_{number} for y in {name}.grid_{number}() if y.is_{number}]"),
            _ => format!(
                "{name}.sum_{number} += {name}.scale_{number} * {number} - {name}.base_{number}"
            ),
        };
        writeln!(text, "{line}").unwrap();
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn function(name: &str, passage: &str) -> String {
    function_of(name, passage, 20)
}

/// A function with so many statements of its own on each side of a passage.
fn function_of(name: &str, passage: &str, count: usize) -> String {
    let body = format!(
        "{}{passage}{}",
        own(name, count),
        own(&format!("{name}_more"), count)
    );
    format!("def {name}(cloud):\n{}", indented(&body))
}

fn told(files: &[(&str, String)]) -> Vec<Duplicate> {
    let file = |(path, text): &(&str, String)| {
        let path = TreePath::new(path).unwrap();
        SourceFile::outlined(&Python, &path, Arc::from(text.as_str())).unwrap()
    };
    find(files.iter().map(file).collect(), Options::default()).duplicates
}

fn places(class: &Duplicate) -> Vec<(String, (u32, u32))> {
    let members = class.members.iter();
    members
        .map(|member| (member.path.to_string(), member.lines))
        .collect()
}

#[test]
fn statements_that_two_long_functions_share_are_told() {
    let renamed = PASSAGE.replace("options", "given");
    let files = [
        ("a.py", function("first", PASSAGE)),
        ("b.py", function("second", &renamed)),
    ];
    let classes = told(&files);
    let [class] = classes.as_slice() else {
        panic!("{classes:#?}");
    };
    assert_eq!(class.kind, DuplicateKind::Block);
    let at = |path: &str| (path.to_owned(), (22, 33));
    assert_eq!(places(class), [at("a.py"), at("b.py")]);
}

#[test]
fn statements_below_main_and_at_the_top_of_a_script_are_told() {
    let script = format!(
        "import argparse\n\n{}{PASSAGE}{}",
        own("top", 20),
        own("end", 20)
    );
    let below = format!(
        "import argparse\n\nif __name__ == '__main__':\n{}",
        indented(&format!("{}{PASSAGE}{}", own("begin", 20), own("last", 20)))
    );
    let classes = told(&[("script.py", script), ("tool.py", below)]);
    let (outer, inner): (Vec<_>, Vec<_>) = classes.iter().partition(|class| class.inside.is_none());
    let [passage] = outer.as_slice() else {
        panic!("{classes:#?}");
    };
    let at = |path: &str, first: u32| (path.to_owned(), (first, first + 11));
    assert_eq!(places(passage), [at("script.py", 23), at("tool.py", 24)]);
    // Each `if` is a block of its own.
    assert!(
        inner
            .iter()
            .all(|class| class.inside == Some(passage.id.clone()))
    );
}

#[test]
fn no_passage_goes_across_a_function_or_imports() {
    let (begin, end) = PASSAGE.split_at(PASSAGE.find("options = ").unwrap());
    let script = |name: &str| {
        let function = format!("\ndef {name}(cloud):\n    return {name}_of(cloud)\n\n");
        format!("{}{begin}{function}{end}{}", own(name, 20), own(name, 20))
    };
    let classes = told(&[("a.py", script("one")), ("b.py", script("other"))]);
    let long = |class: &&Duplicate| {
        class
            .members
            .iter()
            .any(|one| one.lines.1 - one.lines.0 > 5)
    };
    assert_eq!(classes.iter().filter(long).count(), 0, "{classes:#?}");
}

#[test]
fn a_further_place_takes_no_passage_away() {
    let longer = format!("{PASSAGE}cloud = cloud.without_ground(0.2)\n");
    let files = [
        ("a.py", function("first", &longer)),
        ("b.py", function("second", &longer)),
        ("c.py", function("third", PASSAGE)),
    ];
    let of_three = told(&files);
    let together = |classes: &[Duplicate], paths: &[&str]| {
        classes.iter().any(|class| {
            let own: Vec<&str> = class.members.iter().map(|one| one.path.as_str()).collect();
            own == paths
        })
    };
    assert!(together(&told(&files[..2]), &["a.py", "b.py"]));
    assert!(together(&of_three, &["a.py", "b.py"]), "{of_three:#?}");
    assert!(
        together(&of_three, &["a.py", "b.py", "c.py"]),
        "{of_three:#?}"
    );
}

#[test]
fn a_copied_function_is_told_once() {
    let files = [
        ("a.py", function("first", PASSAGE)),
        ("b.py", function("first", PASSAGE)),
    ];
    let classes = told(&files);
    assert_eq!(classes.len(), 1, "{classes:#?}");
    assert_ne!(classes[0].kind, DuplicateKind::Block);
}

#[test]
fn of_a_long_passage_its_first_statements_are_told_and_of_many_places_some() {
    let long = own("shared", 140);
    let files = [
        ("a.py", function_of("first", &long, 200)),
        ("b.py", function_of("second", &long, 200)),
    ];
    let classes = told(&files);
    let told_places: Vec<_> = classes.iter().map(places).collect();
    let first = |path: &str| (path.to_owned(), (202, 329));
    assert_eq!(told_places, [[first("a.py"), first("b.py")]]);
    let names: Vec<String> = (0..70).map(|number| format!("f{number:02}.py")).collect();
    let files: Vec<(&str, String)> = names
        .iter()
        .map(|name| {
            (
                name.as_str(),
                function(name.trim_end_matches(".py"), PASSAGE),
            )
        })
        .collect();
    let most = told(&files).iter().map(|class| class.members.len()).max();
    assert_eq!(most, Some(64));
}

#[test]
fn what_repeats_itself_is_no_passage() {
    let table = |rows: usize| "table.add(1, 'row', 'of', 'a', 'table', rows)\n".repeat(rows);
    let blocks = |rows: usize| {
        let files = [
            ("a.py", function("first", &table(rows))),
            ("b.py", function("second", &table(rows))),
        ];
        !told(&files).is_empty()
    };
    assert_eq!([16, 17].map(blocks), [true, false]);
}
