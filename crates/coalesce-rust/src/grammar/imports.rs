//! What `use` and `extern crate` bring: one leaf a name, with the path that it stands for as it is written.

use coalesce_model::grammar::{ImportLeaf, TokenRange, Tokens};

/// The leaves of the item whose keyword is the first of these tokens.
pub fn leaves(tokens: &dyn Tokens, (first, end): TokenRange) -> Vec<ImportLeaf> {
    let skipped = match tokens.word(first) {
        "extern" => 2,
        _ => 1,
    };
    let mut reader = TreeReader {
        tokens,
        end,
        prefix: Vec::new(),
        found: Vec::new(),
    };
    reader.tree(first + skipped);
    reader.found
}

/// Reads the tree of a `use`.
struct TreeReader<'t> {
    tokens: &'t dyn Tokens,
    end: u32,
    prefix: Vec<String>,
    found: Vec<ImportLeaf>,
}

impl TreeReader<'_> {
    /// Reads one tree; returns where it ends.
    fn tree(&mut self, first: u32) -> u32 {
        let (mut at, before) = (first, self.prefix.len());
        while at < self.end {
            match self.tokens.word(at) {
                "::" => at += 1,
                "{" => {
                    at = self.list(at + 1);
                    break;
                }
                "," | "}" | ";" => {
                    self.leaf((first, at), None);
                    break;
                }
                "as" => {
                    self.leaf((first, at + 2), Some(at + 1));
                    at += 2;
                    break;
                }
                name => {
                    self.prefix.push(name.to_owned());
                    at += 1;
                }
            }
        }
        self.prefix.truncate(before);
        at
    }

    /// Reads the trees between braces; returns where to go on behind them.
    fn list(&mut self, first: u32) -> u32 {
        let mut at = first;
        while at < self.end {
            match self.tokens.word(at) {
                "}" => return at + 1,
                "," => at += 1,
                _ => at = self.tree(at).max(at + 1),
            }
        }
        self.end
    }

    fn leaf(&mut self, tokens: TokenRange, alias: Option<u32>) {
        let mut path = self.prefix.clone();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(last) = path.last().cloned() else {
            return;
        };
        let glob = last == "*";
        let bound = match alias.map(|at| self.tokens.word(at)) {
            Some("_") => String::new(),
            Some(alias) => alias.to_owned(),
            None if glob => String::new(),
            None => last,
        };
        self.found.push(ImportLeaf {
            tokens,
            stands_for: path.clone(),
            path,
            dots: 0,
            bound,
            glob,
        });
    }
}

/// What a path means from the root of the tree, in the module `own` that declares `modules`.
pub fn absolute(path: &[String], own: &[String], modules: &[String]) -> Vec<String> {
    let Some(first) = path.first() else {
        return Vec::new();
    };
    let (mut base, mut rest) = (Vec::new(), path);
    match first.as_str() {
        "crate" => {
            base.extend(own.first().cloned());
            rest = path.get(1..).unwrap_or_default();
        }
        "self" | "super" => {
            base.extend_from_slice(own);
            while let Some((step, behind)) = rest.split_first()
                && matches!(step.as_str(), "self" | "super")
            {
                if step == "super" {
                    base.pop();
                }
                rest = behind;
            }
        }
        name if modules.iter().any(|module| module == name) => base.extend_from_slice(own),
        _ => {}
    }
    base.extend_from_slice(rest);
    base
}
