//! What is never there together with what would take its place.

use std::collections::BTreeSet;

use coalesce_model::finding::codes;

use super::{Fitting, Whole};
use crate::{
    resolve::Res,
    rewrite::{
        conditions::conditions_of,
        mapping::{Mapping, refusal},
    },
};

impl Fitting<'_, '_> {
    /// What is never there together with what would take its place.
    pub(super) fn opposites(&self, whole: &mut Whole) {
        let world = self.mapping.world;
        // The tree as it is: nothing moves.
        let plain = Mapping::new(world, &[], self.names.texts);
        let mut seen = BTreeSet::new();
        for (old, new) in &self.found.all {
            let (from, to) = (world[*old].module, world[*new].module);
            if !seen.insert((from, to)) {
                continue;
            }
            let (here, there) = (conditions_of(&plain, from), conditions_of(&plain, to));
            let opposite = here.iter().find_map(|one| {
                let other = there.iter().find(|other| are_opposite(one, other))?;
                Some((one.clone(), other.clone()))
            });
            let Some((one, other)) = opposite else {
                continue;
            };
            let path = self.mapping.file_of(from);
            let message = format!(
                "`{}` is there under cfg({one}), `{}` under cfg({other}): one is not there where the other is",
                self.names.name_of(Res::Module(from)),
                self.names.name_of(Res::Module(to)),
            );
            let refused = refusal(path, message).coded(codes::MISSING_CONDITION);
            whole.refusals.push(refused);
        }
    }
}

/// Whether two conditions never hold at once.
pub(crate) fn are_opposite(a: &str, b: &str) -> bool {
    let negated = |a: &str, b: &str| a == format!("not({b})");
    let families = ["unix", "windows"];
    let system = |text: &str| {
        let known = families.contains(&text);
        let named = text.starts_with("target_os=") || text.starts_with("target_arch=");
        (known || named).then(|| text.split('=').next().unwrap_or_default().to_owned())
    };
    let parts = |text: &str| -> Vec<String> {
        let inner = text
            .strip_prefix("all(")
            .and_then(|rest| rest.strip_suffix(')'));
        match inner.filter(|inner| !inner.contains('(')) {
            Some(inner) => inner.split(',').map(str::to_owned).collect(),
            None => vec![text.to_owned()],
        }
    };
    let single = |a: &str, b: &str| {
        let systems = system(a).zip(system(b));
        let other_system = systems.is_some_and(|(x, y)| {
            let both_families = families.contains(&a) && families.contains(&b);
            a != b && (x == y && a.contains('=') || both_families)
        });
        negated(a, b) || negated(b, a) || other_system
    };
    let (left, right) = (parts(a), parts(b));
    left.iter().any(|a| right.iter().any(|b| single(a, b)))
}

#[cfg(test)]
mod tests {
    use super::are_opposite;

    #[test]
    fn conditions_that_never_hold_at_once() {
        for (a, b, opposite) in [
            ("unix", "windows", true),
            ("unix", "not(unix)", true),
            ("feature=\"a\"", "not(feature=\"a\")", true),
            ("all(feature=\"a\",unix)", "windows", true),
            ("target_os=\"linux\"", "target_os=\"macos\"", true),
            ("target_os=\"linux\"", "unix", false),
            ("feature=\"a\"", "feature=\"b\"", false),
            ("unix", "unix", false),
        ] {
            assert_eq!(are_opposite(a, b), opposite, "{a} {b}");
            assert_eq!(are_opposite(b, a), opposite, "{b} {a}");
        }
    }
}
