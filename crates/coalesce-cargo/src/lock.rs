//! The lock file once packages have joined: their edges, and what nobody needs any more.
//!
//! Versions stay what they are: nothing is resolved anew, so that `--locked` still holds.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Texts, TreePath, lines};

/// The lock file of a package: the nearest above its folder.
#[must_use]
pub fn path(texts: &dyn Texts, directory: &TreePath) -> Option<TreePath> {
    let above = std::iter::successors(Some(directory.clone()), TreePath::parent);
    let mut files = above.filter_map(|directory| directory.join("Cargo.lock").ok());
    files.find(|path| texts.exists(path))
}

/// A lock file, by blocks.
pub struct Lock {
    head: String,
    blocks: Vec<Block>,
    eol: &'static str,
}

/// One `[[package]]`.
#[derive(Clone, Debug)]
struct Block {
    text: String,
    name: String,
    version: String,
    /// Whether it comes from elsewhere.
    foreign: bool,
    dependencies: Vec<String>,
}

impl Lock {
    /// Reads one.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let eol = lines::line_break(text);
        let mut parts = text.split_inclusive('\n').peekable();
        let mut head = String::new();
        while let Some(line) = parts.next_if(|line| line.trim() != "[[package]]") {
            head.push_str(line);
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut now = String::new();
        for line in parts {
            if line.trim() == "[[package]]" && !now.is_empty() {
                blocks.push(Block::read(std::mem::take(&mut now)));
            }
            now.push_str(line);
        }
        if !now.is_empty() {
            blocks.push(Block::read(now));
        }
        Self { head, blocks, eol }
    }

    fn own(&self, name: &str) -> Option<usize> {
        let mut blocks = self.blocks.iter();
        blocks.position(|block| block.name == name && !block.foreign)
    }

    /// How an entry names a package of the tree.
    fn said(&self, name: &str) -> Option<String> {
        let own = self.blocks.get(self.own(name)?)?;
        let several = self
            .blocks
            .iter()
            .filter(|block| block.name == name)
            .count();
        Some(if several > 1 {
            format!("{name} {}", own.version)
        } else {
            name.to_owned()
        })
    }

    /// What a package of the tree depends on.
    #[must_use]
    pub fn dependencies(&self, name: &str) -> Option<Vec<String>> {
        let block = self.blocks.get(self.own(name)?)?;
        Some(block.dependencies.clone())
    }

    /// Lets a package of the tree depend on another one of it, or on what `source`, another package of
    /// the tree, depends on by that name; whether it is known what that is.
    pub fn depend(&mut self, package: &str, name: &str, source: Option<&str>) -> bool {
        let entry = match source {
            None => self.said(name),
            Some(source) => {
                let same = |entry: &String| entry.split(' ').next() == Some(name);
                let known = self.dependencies(source).unwrap_or_default();
                known.into_iter().find(same)
            }
        };
        let (Some(mut all), Some(entry)) = (self.dependencies(package), entry) else {
            return false;
        };
        all.push(entry);
        self.set(package, all);
        true
    }

    /// Gives a package these dependencies.
    pub fn set(&mut self, name: &str, mut dependencies: Vec<String>) {
        dependencies.sort();
        dependencies.dedup();
        let Some(at) = self.own(name) else { return };
        let eol = self.eol;
        if let Some(block) = self.blocks.get_mut(at)
            && block.dependencies != dependencies
        {
            block.write(dependencies, eol);
        }
    }

    /// Every package that depends on `old` depends on `new`, which does not depend on itself.
    pub fn redirect(&mut self, old: &str, new: &str) {
        if let (Some(old), Some(said)) = (self.said(old), self.said(new)) {
            self.replace(&old, Some((new, said)));
        }
    }

    /// No package depends on one any more.
    pub fn forget(&mut self, name: &str) {
        if let Some(said) = self.said(name) {
            self.replace(&said, None);
        }
    }

    /// Puts another package, by its name and as it is said, in the place of a dependency.
    fn replace(&mut self, old: &String, new: Option<(&str, String)>) {
        let users = self.blocks.iter();
        let users: Vec<(String, Vec<String>)> = users
            .filter(|block| !block.foreign && block.dependencies.contains(old))
            .map(|block| (block.name.clone(), block.dependencies.clone()))
            .collect();
        for (name, mut dependencies) in users {
            dependencies.retain(|entry| entry != old);
            let others = new.iter().filter(|(new, _)| *new != name);
            dependencies.extend(others.map(|(_, said)| said.clone()));
            self.set(&name, dependencies);
        }
    }

    /// Takes a package of the tree out.
    pub fn remove(&mut self, name: &str) {
        if let Some(at) = self.own(name) {
            self.blocks.remove(at);
        }
    }

    /// Takes out what no package of the tree leads to, and names what is alone by its name alone.
    pub fn sweep(&mut self) {
        let reached = self.reached();
        if reached.len() == self.blocks.len() {
            return;
        }
        let mut at = 0;
        self.blocks.retain(|_| {
            at += 1;
            reached.contains(&(at - 1))
        });
        self.shorten();
    }

    /// The blocks of packages of the tree, and those that they lead to.
    fn reached(&self) -> BTreeSet<usize> {
        let blocks = self.blocks.iter().enumerate();
        let own = blocks.filter(|(_, block)| !block.foreign);
        let mut left: Vec<usize> = own.map(|(at, _)| at).collect();
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        while let Some(at) = left.pop() {
            if let Some(block) = self.blocks.get(at).filter(|_| reached.insert(at)) {
                let entries = block.dependencies.iter();
                left.extend(entries.flat_map(|entry| self.named(entry)));
            }
        }
        reached
    }

    /// The blocks that an entry may name.
    fn named(&self, entry: &str) -> Vec<usize> {
        let mut words = entry.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        let blocks = self.blocks.iter().enumerate();
        blocks
            .filter(|(_, block)| {
                block.name == name && version.is_none_or(|version| version == block.version)
            })
            .map(|(at, _)| at)
            .collect()
    }

    fn shorten(&mut self) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for block in &self.blocks {
            *counts.entry(&block.name).or_default() += 1;
        }
        let alone = counts.into_iter().filter(|(_, count)| *count == 1);
        let alone: BTreeSet<String> = alone.map(|(name, _)| name.to_owned()).collect();
        let shorter = |entry: &String| {
            let name = entry.split(' ').next().unwrap_or_default();
            let name = if alone.contains(name) { name } else { entry };
            name.to_owned()
        };
        let eol = self.eol;
        for block in &mut self.blocks {
            let shorter: Vec<String> = block.dependencies.iter().map(shorter).collect();
            if shorter != block.dependencies {
                block.write(shorter, eol);
            }
        }
    }

    /// Its text, as cargo writes it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.head.clone();
        for block in &self.blocks {
            let open = text.ends_with(&format!("{0}{0}", self.eol)) || text.is_empty();
            if !open {
                text.push_str(self.eol);
            }
            text.push_str(&block.text);
        }
        let end = text.trim_end().len();
        text.truncate(end);
        text.push_str(self.eol);
        text
    }
}

impl Block {
    fn read(text: String) -> Self {
        let field = |key: &str| {
            text.lines().find_map(|line| {
                let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
                Some(value.strip_suffix('"')?.to_owned())
            })
        };
        let (name, version) = (field("name"), field("version"));
        let foreign = field("source").is_some();
        let lines = text.lines().map(str::trim);
        let lines = lines.skip_while(|line| *line != "dependencies = [");
        let entries = lines.take_while(|line| *line != "]");
        let entries = entries.filter_map(|line| line.strip_prefix('"'));
        let entries = entries.map(|entry| entry.trim_end_matches(',').trim_end_matches('"'));
        Self {
            name: name.unwrap_or_default(),
            version: version.unwrap_or_default(),
            foreign,
            dependencies: entries.map(str::to_owned).collect(),
            text,
        }
    }

    fn write(&mut self, dependencies: Vec<String>, eol: &str) {
        let mut text = String::new();
        let mut inside = false;
        for line in self.text.lines() {
            inside |= line == "dependencies = [";
            if !inside {
                text.push_str(line);
                text.push_str(eol);
            }
            inside &= line != "]";
        }
        let end = text.trim_end().len();
        text.truncate(end);
        text.push_str(eol);
        if !dependencies.is_empty() {
            text.push_str(&format!("dependencies = [{eol}"));
            for entry in &dependencies {
                text.push_str(&format!(" \"{entry}\",{eol}"));
            }
            text.push_str(&format!("]{eol}"));
        }
        text.push_str(eol);
        self.text = text;
        self.dependencies = dependencies;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"old\",\n]\n\n[[package]]\nname = \"core-gpu\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"log\"\nversion = \"0.3.0\"\nsource = \"registry\"\n\n[[package]]\nname = \"log\"\nversion = \"0.4.0\"\nsource = \"registry\"\n\n[[package]]\nname = \"old\"\nversion = \"0.1.0\"\ndependencies = [\n \"log 0.3.0\",\n]\n\n[[package]]\nname = \"user\"\nversion = \"0.1.0\"\ndependencies = [\n \"log 0.4.0\",\n]\n";

    #[test]
    fn what_is_read_is_written() {
        assert_eq!(Lock::read(LOCK).text(), LOCK);
    }

    #[test]
    fn edges_are_sorted_and_exact() {
        let lock = "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"log 0.3.9\",\n \"zip\",\n]\n\n[[package]]\nname = \"core-gpu\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"log\"\nversion = \"0.3.9\"\nsource = \"registry\"\n\n[[package]]\nname = \"log\"\nversion = \"0.4.1\"\nsource = \"registry\"\n\n[[package]]\nname = \"zip\"\nversion = \"1.0.0\"\nsource = \"registry\"\n";
        let mut read = Lock::read(lock);
        assert!(read.depend("core-gpu", "log", Some("app")));
        assert!(read.depend("app", "core-gpu", None));
        assert!(read.depend("app", "zip", Some("app")));
        assert!(!read.depend("app", "missing", None));
        let text = read.text();
        let core =
            "name = \"core-gpu\"\nversion = \"0.1.0\"\ndependencies = [\n \"log 0.3.9\",\n]\n";
        assert!(text.contains(core), "{text}");
        let app = "dependencies = [\n \"core-gpu\",\n \"log 0.3.9\",\n \"zip\",\n]";
        assert!(text.contains(app), "{text}");
    }

    #[test]
    fn a_package_goes_and_leaves_nothing_behind() {
        let mut lock = Lock::read(LOCK);
        lock.redirect("old", "core-gpu");
        lock.remove("old");
        lock.sweep();
        let text = lock.text();
        assert!(
            text.contains(
                "name = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"core-gpu\",\n]\n"
            ),
            "{text}"
        );
        assert!(!text.contains("0.3.0"), "{text}");
        assert!(text.contains("dependencies = [\n \"log\",\n]"), "{text}");
    }
}
