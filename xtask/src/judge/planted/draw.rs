//! Random replacements and merges of what was planted.

use super::Plant;
use crate::{
    judge::{
        arguments::Arguments,
        consolidation::{Consolidation, Kind, Planted},
    },
    random::Random,
};

/// How many of a hundred merges of what differs say what becomes of it.
const DECIDED: u64 = 60;

/// One consolidation of a copy and its original; `None` where nothing fits the kinds that are asked for.
pub fn draw(plants: &[Plant], random: &mut Random, arguments: &Arguments) -> Option<Consolidation> {
    let plant = random.choose(plants)?;
    let kinds: Vec<Kind> = arguments
        .kinds
        .iter()
        .copied()
        .filter(|kind| match kind {
            Kind::Replace => true,
            Kind::Merge => plant.is_module,
            Kind::Module | Kind::Item => false,
        })
        .collect();
    let kind = *random.choose(&kinds)?;
    let mut done = Consolidation {
        kind,
        language: plant.language,
        from: plant.copy.clone(),
        to: plant.original.clone(),
        shim: random.percent(arguments.shims),
        decide: Vec::new(),
        planted: None,
    };
    let mut differs: Vec<String> = plant.differs.iter().cloned().collect();
    if kind == Kind::Merge && !plant.decides.is_empty() && random.percent(DECIDED) {
        done.decide = plant
            .decides
            .iter()
            .map(|name| {
                let keep = if random.percent(50) {
                    "keep-into"
                } else {
                    "keep-from"
                };
                (name.clone(), keep.to_owned())
            })
            .collect();
        differs.clear();
    }
    if kind == Kind::Replace && plant.is_module && random.percent(50) {
        let item = random.choose(&plant.items)?;
        let separator = plant.language.separator();
        done.from = format!("{}{separator}{item}", plant.copy);
        done.to = format!("{}{separator}{item}", plant.original);
        differs.retain(|name| name == item);
    }
    if random.percent(50) {
        std::mem::swap(&mut done.from, &mut done.to);
    }
    // Nobody gets another one in the place of what nobody uses.
    let original = plant.original.as_str();
    let gives_way = done
        .from
        .strip_prefix(original)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(plant.language.separator()));
    if kind == Kind::Replace && gives_way && !plant.is_original_used {
        differs.clear();
    }
    done.planted = Some(Planted {
        changes: plant.changes.clone(),
        differs,
    });
    Some(done)
}
