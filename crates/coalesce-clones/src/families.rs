//! Families: files of one folder, or at one place of folders beside each other, that are alike because there
//! is one for each model, chip or shape.

use coalesce_model::{TreePath, components, envelope::DuplicateKind};
use rustc_hash::FxHashMap;

use crate::{chapters::Chapter, report::Duplicate};

/// Files of one folder that are alike from which on they are a family.
const FAMILY: usize = 6;
/// Lines of what ties a family alone.
const FAMILY_LINES: u32 = 30;
/// Classes that two files share from which on they are alike.
const SHARED: usize = 2;

/// Puts what differs from file to file of a family into a chapter of its own, and what is in six files of it:
/// that there is one file for each model is the project's rule, and what is the same in a few is still told first.
pub fn part_families(classes: &mut [Duplicate]) {
    let families = families(classes);
    for class in classes {
        let paths = paths_of(class);
        // Passages are what the parts of a family have in common by being one, and so is what all of it has.
        let is_same = class.kind != DuplicateKind::Block
            && paths.len() < FAMILY
            && class.measure.is_none_or(|measure| measure.is_equal());
        let asked = class.chapter == Chapter::Product && !is_same;
        if asked && paths.len() > 1 && are_of_one(&paths, &families) {
            class.chapter = Chapter::Variants;
        }
    }
}

/// Whether three quarters of these files are of one family: what is outside has a copy of theirs.
fn are_of_one(paths: &[&TreePath], families: &FxHashMap<TreePath, usize>) -> bool {
    let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
    for family in paths.iter().filter_map(|path| families.get(*path)) {
        *sizes.entry(*family).or_default() += 1;
    }
    let most = sizes.into_values().max().unwrap_or(0);
    4 * most >= 3 * paths.len()
}

/// For each file of a family the number of that family.
fn families(classes: &[Duplicate]) -> FxHashMap<TreePath, usize> {
    let mut ties: FxHashMap<(&TreePath, &TreePath), usize> = FxHashMap::default();
    for class in classes.iter().filter(|class| class.chapter.is_of_program()) {
        let paths = paths_of(class);
        let weight = weight_of(class, paths.len());
        // What is beside the first of a long list is beside all of them.
        let first = paths.iter().enumerate().take(FAMILY);
        let pairs =
            first.flat_map(|(at, one)| paths.iter().skip(at + 1).map(move |other| (*one, *other)));
        for pair in pairs.filter(|(one, other)| are_kin(one, other)) {
            *ties.entry(pair).or_default() += weight;
        }
    }
    let alike = ties.into_iter().filter(|(_, count)| *count >= SHARED);
    let mut alike: Vec<(&TreePath, &TreePath)> = alike.map(|(pair, _)| pair).collect();
    alike.sort_unstable();
    families_of_ties(&alike)
}

/// The files of a class.
fn paths_of(class: &Duplicate) -> Vec<&TreePath> {
    let mut paths: Vec<&TreePath> = class.members.iter().map(|member| &member.path).collect();
    paths.dedup();
    paths
}

/// How many classes one counts for: modules say it alone, and so does something large in every one of them.
fn weight_of(class: &Duplicate, files: usize) -> usize {
    let is_large = class.members.iter().all(|member| {
        let (first, last) = member.lines;
        last - first >= FAMILY_LINES
    });
    let alone = class.kind == DuplicateKind::Module || (is_large && files >= FAMILY);
    if alone { SHARED } else { 1 }
}

/// Whether two files stand in one folder, or at the same place of folders beside each other:
/// `models/a/modeling_a.py` and `models/b/modeling_b.py`.
fn are_kin(one: &TreePath, other: &TreePath) -> bool {
    let (left, left_name) = split(one);
    let (right, right_name) = split(other);
    if left.len() != right.len() {
        return false;
    }
    let mut apart = left.iter().zip(&right).filter(|(one, other)| one != other);
    match (apart.next(), apart.next()) {
        (None, _) => true,
        (Some((one, other)), None) => left_name.replace(one, "") == right_name.replace(other, ""),
        _ => false,
    }
}

/// The folders of a path, and the name of its file.
fn split(path: &TreePath) -> (Vec<&str>, &str) {
    let mut folders: Vec<&str> = path.components().collect();
    let name = folders.pop().unwrap_or_default();
    (folders, name)
}

/// For each of these paths, which are sorted, the places of those that it is tied to.
fn edges(paths: &[&TreePath], ties: &[(&TreePath, &TreePath)]) -> Vec<Vec<usize>> {
    let mut edges = vec![Vec::new(); paths.len()];
    let both_ways = |(one, other): &(_, _)| [(*one, *other), (*other, *one)];
    for (one, other) in ties.iter().flat_map(both_ways) {
        let node = |path| paths.binary_search(&path);
        if let (Ok(from), Ok(to)) = (node(one), node(other))
            && let Some(targets) = edges.get_mut(from)
        {
            targets.push(to);
        }
    }
    edges
}

/// The files that are tied together, where these are enough for a family, each with its number.
fn families_of_ties(ties: &[(&TreePath, &TreePath)]) -> FxHashMap<TreePath, usize> {
    let mut paths: Vec<&TreePath> = ties
        .iter()
        .flat_map(|(one, other)| [*one, *other])
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let numbers = components(&edges(&paths, ties));
    let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
    for number in &numbers {
        *sizes.entry(*number).or_default() += 1;
    }
    let numbered = paths.into_iter().zip(numbers);
    let is_family =
        |(_, number): &(_, usize)| sizes.get(number).is_some_and(|size| *size >= FAMILY);
    let large = numbered.filter(is_family);
    large.map(|(path, number)| (path.clone(), number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_place_in_folders_beside_each_other_are_kin() {
        let cases = [
            ("m/a.py", "m/b.py", true),
            ("m/a/modeling_a.py", "m/b/modeling_b.py", true),
            (
                "services/s3/src/reader.rs",
                "services/gcs/src/reader.rs",
                true,
            ),
            ("m/a/modeling_a.py", "m/b/layers.py", false),
            ("m/a/x.py", "n/b/x.py", false),
            ("m/x.py", "m/a/x.py", false),
        ];
        for (one, other, expected) in cases {
            let path = |path| TreePath::new(path).expect("it is a path");
            assert_eq!(are_kin(&path(one), &path(other)), expected, "{one} {other}");
        }
    }
}
