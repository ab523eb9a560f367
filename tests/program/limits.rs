//! Limits of `docs/limits.md` that a whole command shows: up to one the answer is the one of any tree, beyond it
//! that is said, or less is told.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use super::interrupted::Scratch;

/// What a command says of the tree with one file more.
fn with(name: &str, text: &str, call: &str) -> String {
    let scratch = Scratch::new();
    scratch.write(name, text);
    scratch.run(call, 0)
}

/// Two numbers, the second of them beyond a limit, and whether what is said has this text for each.
fn changes_at(limit: usize, text: &str, said: impl Fn(usize) -> String) -> [bool; 2] {
    [limit, limit + 1].map(|number| said(number).contains(text))
}

#[test]
fn of_many_patterns_of_data_it_is_told_that_they_are_not_looked_at() {
    let said = |count: usize| {
        let scratch = Scratch::new();
        let pattern = |number| format!("\"*.x{number}\"");
        let patterns: Vec<String> = (0..count).map(pattern).collect();
        let project = format!(
            "[project]\nname = \"p\"\n[tool.setuptools.package-data]\np = [{}]\n",
            patterns.join(", ")
        );
        scratch.write("pyproject.toml", &project);
        scratch.write("p/gpu/__init__.py", "");
        scratch.write("p/gpu/table.json", "{}");
        let manifest = "schema = 1\n[[move]]\nfrom = \"p.gpu\"\nto = \"p.core.gpu\"\n";
        scratch.write("gpu.toml", manifest);
        scratch.run("plan gpu.toml", 0)
    };
    let told = changes_at(1_024, "more than 1024 patterns of data", said);
    assert_eq!(told, [false, true]);
}

/// A class that asks for the name of its module, and a number of classes below it, none of which moves.
fn readers_of_modules(asking: usize, below: usize, padding: usize) -> String {
    let mut text = String::from("class Base:\n");
    for number in 0..asking {
        write!(
            text,
            "    def name_{number}(self):\n        return self.__module__.rpartition('.')[2]\n"
        )
        .unwrap();
    }
    for number in 0..below {
        write!(text, "class B{number}(Base):\n    pass\n").unwrap();
    }
    text + &"# all of this is gone through for each place that asks\n".repeat(padding)
}

#[test]
fn a_class_with_many_below_it_is_followed() {
    let said = |names: usize| {
        let text = readers_of_modules(1, names - 1, 0);
        with("p/other.py", &text, "plan m.toml")
    };
    assert!(!said(64).contains("Not proven"));
    assert!(!said(200).contains("Not proven"));
}

#[test]
fn where_many_places_ask_in_a_long_tree_anything_may_be_asked() {
    // All modules have 2 MB together, so that 24 places make 48 MiB.
    let said = |asking: usize| {
        let text = readers_of_modules(asking, 0, 36_000);
        with("p/other.py", &text, "plan m.toml")
    };
    assert!(!said(20).contains("Not proven"));
    assert!(said(30).contains("Not proven"));
}

#[test]
fn a_name_stands_in_a_list_whose_directive_is_so_far_above() {
    let said = |lines: usize| {
        let others = "   q.name\n".repeat(lines);
        let text = format!(".. autosummary::\n{others}   p.kernels\n");
        with("docs/api.rst", &text, "plan m.toml")
    };
    assert_eq!(changes_at(999, "[doc link]", said), [true, false]);
}

#[test]
fn of_a_long_line_so_much_is_looked_at() {
    let said = |filler: usize| {
        let text = format!("[p.kernels {}][]\n", "x".repeat(filler));
        with("docs/api.md", &text, "plan m.toml")
    };
    let besides = " ][]".len();
    assert_eq!(
        changes_at(4_096 - besides, "[doc link]", said),
        [true, false]
    );
}

#[test]
fn of_many_copies_some_are_asked_which_could_stay() {
    let last_could_stay = |count: usize| {
        let scratch = Scratch::new();
        let body = "    centroid = points.mean(axis=0)\n    centered = points - centroid * scale\n    \
                    covariance = centered.T @ centered / len(points)\n    return linalg.eigh(covariance)\n";
        for number in 0..count {
            let text = format!("from q import linalg\ndef axes(points, scale):\n{body}");
            scratch.write(&format!("p/copy_{number:02}.py"), &text);
        }
        let last = count - 1;
        for user in 0..9 {
            let text = format!("from p.copy_{last} import axes\naxes(1, {user})\n");
            scratch.write(&format!("p/of_copy_{user}.py"), &text);
        }
        let said = scratch.run("audit --include p/copy_*.py", 0);
        assert!(said.contains("could stay: p.copy_"), "{said}");
        said.contains(&format!("could stay: p.copy_{last}.axes"))
    };
    assert_eq!([64, 65].map(last_could_stay), [true, false]);
}
