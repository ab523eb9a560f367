//! What a project file says of the distribution that its folder is: its name, and what is installed besides for those
//! who ask for more (tests, extras).

use toml_edit::Item;

use super::{Document, distribution};
use crate::facts::DeclaredDistribution;

/// Where `pyproject.toml` names a distribution.
pub const NAMES: [&[&str]; 2] = [&["project", "name"], &["tool", "poetry", "name"]];

/// Where old files of flit name the module that is built, and the distribution by it.
pub const NAME_OF_MODULE: &[&str] = &["tool", "flit", "metadata", "module"];

/// Tables of lists of requirements, each for who asks for it.
const LISTS: [&[&str]; 4] = [
    &["project", "optional-dependencies"],
    &["dependency-groups"],
    &["tool", "pdm", "dev-dependencies"],
    &["tool", "flit", "metadata", "requires-extra"],
];

/// What `pyproject.toml` says of its distribution.
pub fn of_pyproject(document: &Document<'_>) -> DeclaredDistribution {
    let names = NAMES.iter().chain([&NAME_OF_MODULE]);
    let mut name = names.filter_map(|keys| document.at(keys)?.as_str());
    let dynamic = document.strings(&["project", "dynamic"]);
    DeclaredDistribution {
        name: name.next().map(str::to_owned),
        on_request: on_request(document),
        worked_out: dynamic.iter().any(|key| key == "dependencies"),
    }
}

fn on_request(document: &Document<'_>) -> Vec<String> {
    let of_uv = document.strings(&["tool", "uv", "dev-dependencies"]);
    let mut names: Vec<String> = of_uv.iter().map(|line| distribution(line)).collect();
    for list in LISTS.iter().filter_map(|keys| document.at(keys)) {
        let groups = list.as_table_like().into_iter();
        let groups = groups.flat_map(|table| table.iter());
        let lines = groups.filter_map(|(_, group)| group.as_array());
        let lines = lines.flatten().filter_map(toml_edit::Value::as_str);
        names.extend(lines.map(distribution));
    }
    names.extend(of_poetry(document));
    names
}

/// All that poetry may install: optional requirements, and those of every group.
fn of_poetry(document: &Document<'_>) -> Vec<String> {
    let poetry = |keys: &[&str]| document.at(keys).and_then(Item::as_table_like);
    let groups = poetry(&["tool", "poetry", "group"]).into_iter();
    let groups = groups.flat_map(|groups| groups.iter());
    let groups = groups.filter_map(|(_, group)| group.get("dependencies")?.as_table_like());
    let own = ["dependencies", "dev-dependencies"];
    let own = own
        .iter()
        .filter_map(|key| poetry(&["tool", "poetry", key]));
    let tables = own.chain(groups);
    let names = tables.flat_map(|table| table.iter().map(|(name, _)| distribution(name)));
    names.collect()
}
