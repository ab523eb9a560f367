//! Whether what `coalesce.toml` says of `check` means something in this tree. A misspelt layer would
//! keep nobody out, and a misspelt rule would go on.

use coalesce_clones::catalogue::Role;
use coalesce_index::Index;
use coalesce_model::{CheckSettings, Layers, RoleHome, manifest::name_meant, pattern::NamePattern};

use crate::exit::Failure;

/// Refuses settings that name what there is not.
pub fn fit(settings: &CheckSettings, index: &Index<'_>) -> Result<(), Failure> {
    known_codes(&settings.off)?;
    known_roles(&settings.homes)?;
    known_modules(&settings.layers, &settings.homes, index)
}

/// Refuses a rule that is switched off and does not exist.
fn known_codes(off: &[String]) -> Result<(), Failure> {
    let codes = coalesce_lint::RULES.iter().map(|rule| rule.code.0);
    let codes: Vec<&str> = codes.collect();
    let mut off = off.iter();
    let wrong = off.find(|off| !codes.contains(&off.as_str()));
    wrong.map_or(Ok(()), |wrong| {
        let message = format!("coalesce.toml: there is no rule `{wrong}` to switch off");
        Err(misspelt(message, wrong, &codes))
    })
}

/// Refuses a role that the catalogue does not have: its home would never be missed.
fn known_roles(homes: &[RoleHome]) -> Result<(), Failure> {
    let known = Role::ALL.map(Role::as_str);
    let mut roles = homes.iter().flat_map(|home| &home.roles);
    let wrong = roles.find(|role| !known.contains(&role.as_str()));
    wrong.map_or(Ok(()), |wrong| {
        let known_list = known.join("`, `");
        let message = format!(
            "coalesce.toml: `[[gpu-home]]` names the role `{wrong}`; there are `{known_list}`"
        );
        Err(misspelt(message, wrong, &known))
    })
}

/// Refuses a layer or a home that no module is in: nothing would be held to the one, and all to the
/// other.
fn known_modules(layers: &[Layers], homes: &[RoleHome], index: &Index<'_>) -> Result<(), Failure> {
    let layers = layers.iter().flat_map(|layers| &layers.order);
    let homes = homes.iter().flat_map(|home| &home.modules);
    let layers = layers.map(|pattern| ("[[layers]]", pattern));
    let mut said = layers
        .chain(homes.map(|pattern| ("[[gpu-home]]", pattern)))
        .peekable();
    if said.peek().is_none() {
        return Ok(());
    }
    let modules = index.graphs().iter().flat_map(|graph| graph.modules());
    let names: Vec<&str> = modules.flat_map(coalesce_lint::module_names).collect();
    let fits = |pattern: &NamePattern| {
        let mut names = names.iter();
        names.any(|name| pattern.matches_name_or_parent(name))
    };
    said.find(|(_, pattern)| !fits(pattern))
        .map_or(Ok(()), |(table, pattern)| {
            let wrong = pattern.as_str();
            let message =
                format!("coalesce.toml: `{table}` names `{wrong}`, and no module is called so");
            Err(misspelt(message, wrong, &names))
        })
}

/// A name that is none, with the one that was likely meant.
fn misspelt(message: String, wrong: &str, known: &[&str]) -> Failure {
    Failure::config(message).hints(name_meant(wrong, known.iter().copied()))
}
