//! Single `impl` blocks that get another place in their crate: `krate::a::impl Pool` goes to
//! `krate::b::impl Pool`.
//!
//! A block has no name. While it moves an empty type stands above it, which takes it along as other types
//! take theirs, and is gone before anybody sees the plan. So a block is held against its new place like every
//! text that moves: what it names is imported there, what it must see is widened, its conditions travel.

use std::collections::BTreeMap;

use coalesce_model::{
    ByteSpan, Change, Edit, Finding, LanguagePlan, Texts, TreePath, finding::codes,
};

use super::{lines, mapping::refusal};
use crate::{
    RustGraph,
    resolve::{FileId, ModuleId, World},
};

/// How the types begin that stand above blocks while these move.
const STAND_IN: &str = "CoalesceMovesThisBlock";

/// Whether a name is that of a block.
pub(crate) fn is_block(name: &str) -> bool {
    name.rsplit("::")
        .next()
        .is_some_and(|last| last.starts_with("impl "))
}

/// The blocks of a module that a name may mean: `impl Type` and `impl Trait for Type` by the last names of their
/// paths; of several, one by its number, `impl Type#2`.
pub(crate) fn named(world: &World, module: ModuleId, name: &str) -> Vec<(FileId, ByteSpan)> {
    let (header, number) = match name.rsplit_once('#') {
        Some((header, number)) => (header, number.parse::<usize>().ok()),
        None => (name, None),
    };
    let found = world.impls_headed(module, header);
    match number {
        None if name.contains('#') => Vec::new(),
        None => found.to_vec(),
        Some(number) => {
            let one = found.get(number.saturating_sub(1));
            one.copied().into_iter().collect()
        }
    }
}

/// The stand-in of the block with this number.
fn stand_in(at: usize) -> String {
    format!("{STAND_IN}{at}")
}

/// The changes of the types that stand in for blocks.
pub(super) fn changes(blocks: &[Change]) -> Vec<Change> {
    let name = |full: &str, at: usize| {
        let home = full.rsplit_once("::").map_or("", |(home, _)| home);
        format!("{home}::{}", stand_in(at))
    };
    let blocks = blocks.iter().enumerate();
    blocks
        .map(|(at, block)| Change {
            from: name(&block.from, at),
            to: name(&block.to, at),
            shim: None,
            ..block.clone()
        })
        .collect()
}

/// Puts a type above each block.
pub(super) fn mark(graph: &RustGraph, blocks: &[Change], texts: &dyn Texts) -> LanguagePlan {
    let mut plan = LanguagePlan::default();
    let mut taken = BTreeMap::new();
    for (at, block) in blocks.iter().enumerate() {
        let (path, start) = match place(graph, block, texts) {
            Ok(place) => place,
            Err(finding) => {
                plan.refusals.push(finding);
                continue;
            }
        };
        if let Some(other) = taken.insert((path.clone(), start), &block.from) {
            let message = format!("`{other}` and `{}` are one block", block.from);
            plan.refusals.push(refusal(path.clone(), message));
        }
        let text = format!("struct {};\n\n", stand_in(at));
        let edits = plan.edits.entry(path).or_default();
        edits.push(Edit::insert(start, text));
    }
    for edits in plan.edits.values_mut() {
        edits.sort_by_key(|edit| edit.span);
    }
    plan
}

/// The block of a module that a name means.
fn only_block(
    world: &World,
    module: ModuleId,
    (home, name): (&str, &str),
) -> Result<(FileId, ByteSpan), Finding> {
    let found = named(world, module, name);
    let (file, span) = match found.as_slice() {
        [] => {
            let message = format!("`{home}` has no block `{name}`");
            return Err(refusal(TreePath::root(), message));
        }
        [one] => return Ok(*one),
        [(file, span), ..] => (*file, *span),
    };
    let message = format!("`{home}` has {} blocks `{name}`", found.len());
    let help = format!("say which by its number in the module: `{home}::{name}#1`");
    let refused = refusal(world[file].path.clone(), message);
    Err(refused.at(span).with_help(help))
}

/// Where a block begins, comments above it included; why it cannot move.
fn place(graph: &RustGraph, block: &Change, texts: &dyn Texts) -> Result<(TreePath, u32), Finding> {
    let world = &graph.world;
    let unknown = |message: String| refusal(TreePath::root(), message);
    let parts = block.from.rsplit_once("::").zip(block.to.rsplit_once("::"));
    let Some(((home, name), (target, new))) = parts else {
        return Err(unknown(format!("`{}` names no block", block.from)));
    };
    let module = world.modules_named(home).first().copied();
    let module = module.ok_or_else(|| unknown(format!("there is no module `{home}`")))?;
    let (file, span) = only_block(world, module, (home, name))?;
    let path = world[file].path.clone();
    let refused = |message: String| refusal(path.clone(), message).at(span);
    let header = name.split('#').next().unwrap_or(name);
    if new.split('#').next() != Some(header) {
        let help = format!("write `{target}::{header}`");
        return Err(refused(format!("`{name}` cannot become `{new}`")).with_help(help));
    }
    if block.shim.is_some() {
        let help = "leave `shim` out: nobody names a block".to_owned();
        return Err(refused(format!("no shim can stand for `{name}`")).with_help(help));
    }
    let krate = |name: &str| name.split("::").next().map(str::to_owned);
    if krate(home) != krate(target) {
        let refused = refused(format!("`{name}` cannot leave its crate by itself"));
        let help = "move its type, or its trait".to_owned();
        return Err(refused.with_help(help).coded(codes::FORBIDDEN_IN_TARGET));
    }
    let text = texts.text(&path);
    let text = text.filter(|_| world.facts(file).problem.is_none());
    let text = text.ok_or_else(|| refused(format!("the file of `{name}` does not parse")))?;
    let start = lines::with_comments_above(&text, span).start;
    Ok((path, start))
}

/// Whether a type of this name stands above a block while that moves.
pub(super) fn is_stand_in(name: &str) -> bool {
    name.starts_with(STAND_IN)
}

/// Takes the types out again, and their names out of what is told.
pub(super) fn unmark(blocks: &[Change], plan: &mut LanguagePlan) {
    for edit in plan.edits.values_mut().flatten() {
        edit.text = without(&edit.text);
    }
    for file in &mut plan.creates {
        file.text = without(&file.text);
    }
    plan.rewrites.retain(|one| !one.to.contains(STAND_IN));
    name_blocks(blocks, plan);
}

/// Names blocks again where the types that stand in for them are told.
fn name_blocks(blocks: &[Change], plan: &mut LanguagePlan) {
    let changes = changes(blocks);
    let named = |text: &mut String| {
        for at in stand_ins_in(text) {
            if let Some((change, block)) = changes.get(at).zip(blocks.get(at)) {
                let said = text.replace(&change.from, &block.from);
                *text = said.replace(&change.to, &block.to);
            }
        }
    };
    let findings = plan.refusals.iter_mut().chain(&mut plan.notes);
    for finding in findings {
        named(&mut finding.message);
    }
    for place in &mut plan.unproven {
        named(&mut place.name);
        named(&mut place.why);
    }
}

/// The numbers of the stand-ins that a text names, the largest first: the name of the first begins those of
/// the eleventh and more.
fn stand_ins_in(text: &str) -> Vec<usize> {
    let after = text.split(STAND_IN).skip(1);
    let numbers = after.filter_map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit());
        rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
    });
    let mut found: Vec<usize> = numbers.collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.dedup();
    found
}

/// A text without the types that stand in for blocks, their attributes and the empty line below them.
fn without(text: &str) -> String {
    if !text.contains(STAND_IN) {
        return text.to_owned();
    }
    let is_attribute = |line: &&str| line.trim_start().starts_with("#[");
    let mut kept: Vec<&str> = Vec::new();
    let mut empty = false;
    for line in text.split_inclusive('\n') {
        if line.contains(STAND_IN) {
            let attributes = kept.iter().rev().take_while(|line| is_attribute(line));
            let left = kept.len() - attributes.count();
            kept.truncate(left);
            empty = true;
        } else if empty && line.trim().is_empty() {
            empty = false;
        } else {
            empty = false;
            kept.push(line);
        }
    }
    kept.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_by_their_names() {
        for (name, is) in [
            ("krate::a::impl Pool", true),
            ("krate::a::impl Drop for Pool#2", true),
            ("krate::a::implement", false),
            ("krate::impl_::Pool", false),
        ] {
            assert_eq!(is_block(name), is, "{name}");
        }
    }

    #[test]
    fn stand_ins_are_told_by_their_whole_numbers() {
        let text = format!("`a::{STAND_IN}1` and `a::{STAND_IN}11`, `a::{STAND_IN}1`");
        assert_eq!(stand_ins_in(&text), [11, 1]);
        assert!(stand_ins_in("a::B1").is_empty());
    }

    #[test]
    fn what_stands_in_goes_with_its_attributes_and_one_empty_line() {
        let text = format!(
            "use a::B;\n\n#[cfg(unix)]\nstruct {STAND_IN}0;\n\n#[cfg(unix)]\nimpl B {{}}\n"
        );
        assert_eq!(without(&text), "use a::B;\n\n#[cfg(unix)]\nimpl B {}\n");
        assert_eq!(without("impl B {}\n"), "impl B {}\n");
    }
}
