//! The line of a manifest that allows what is refused: one for each key, since a table of TOML has a key once.

use std::collections::BTreeSet;

use coalesce_model::Allowed;

/// The line that allows these requirements besides those that are allowed.
pub fn requirements(allowed: &Allowed, libraries: &BTreeSet<&str>) -> String {
    line(allowed, ("requirements", &allowed.requirements), libraries)
}

/// The line that allows the guarded imports of these modules besides those that are allowed.
pub fn guarded_imports(allowed: &Allowed, modules: &BTreeSet<&str>) -> String {
    line(
        allowed,
        ("guarded-imports", &allowed.guarded_imports),
        modules,
    )
}

fn line(allowed: &Allowed, (key, known): (&str, &[String]), more: &BTreeSet<&str>) -> String {
    let known = known.iter().map(String::as_str);
    let more = more.iter().copied();
    let mut seen = BTreeSet::new();
    let names = known.chain(more).filter(|name| seen.insert(*name));
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let list = names.join(", ");
    if *allowed == Allowed::default() {
        format!("write at the top of the manifest: allow.{key} = [{list}]")
    } else {
        // A second table by that name, or a dotted key beside it, is no TOML.
        format!("write in `[allow]` of the manifest: {key} = [{list}]")
    }
}

/// The help of one refusal of `count`: the line, or for what it is told.
pub fn help(line: &str, told_for: Option<&str>, count: usize) -> String {
    match (told_for, count) {
        (None, 1) => format!("to allow it, {line}"),
        (None, _) => format!("to allow all {count} of this kind, {line}"),
        (Some(first), _) => format!("the line that is told for `{first}` allows it, too"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'n>(names: &[&'n str]) -> BTreeSet<&'n str> {
        names.iter().copied().collect()
    }

    #[test]
    fn what_is_allowed_already_stays_allowed() {
        let none = Allowed::default();
        assert_eq!(
            requirements(&none, &set(&["torch", "cupy"])),
            "write at the top of the manifest: allow.requirements = [\"cupy\", \"torch\"]"
        );
        let some = Allowed {
            requirements: vec!["numpy".to_owned()],
            ..Allowed::default()
        };
        assert_eq!(
            requirements(&some, &set(&["numpy", "torch"])),
            "write in `[allow]` of the manifest: requirements = [\"numpy\", \"torch\"]"
        );
        assert_eq!(
            guarded_imports(&some, &set(&["p.config"])),
            "write in `[allow]` of the manifest: guarded-imports = [\"p.config\"]"
        );
    }

    #[test]
    fn of_several_one_has_the_line() {
        assert_eq!(help("write x", None, 1), "to allow it, write x");
        assert_eq!(
            help("write x", None, 3),
            "to allow all 3 of this kind, write x"
        );
        assert_eq!(
            help("write x", Some("a"), 3),
            "the line that is told for `a` allows it, too"
        );
    }
}
