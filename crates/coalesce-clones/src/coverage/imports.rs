//! What import statements bring: one leaf a name, with the path that it stands for as it is written.
//!
//! Reads tokens; what a path means from where it stands is for [`super::meaning`].

use coalesce_model::LanguageKind;

use super::parts::{Range, Reader};

/// One name that an import brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its tokens, alias included.
    pub tokens: Range,
    /// The path as it is written, without leading dots.
    pub path: Vec<String>,
    /// Leading dots of a relative import.
    pub dots: usize,
    /// The name that it binds; empty where it binds none that can be told: `*`, `as _`.
    pub bound: String,
    /// The path that the bound name stands for: `import a.b` binds `a`.
    pub stands_for: Vec<String>,
    /// Whether it brings everything.
    pub glob: bool,
}

/// The leaves of the import statement in a range that begins with its keyword.
pub(crate) fn leaves(reader: &Reader<'_>, range: Range) -> Vec<Leaf> {
    match reader.file.language {
        LanguageKind::Python => python(reader, range),
        LanguageKind::Rust => rust(reader, range),
        LanguageKind::Kernel => Vec::new(),
    }
}

fn python(reader: &Reader<'_>, (first, end): Range) -> Vec<Leaf> {
    let (mut at, mut dots, mut base) = (first + 1, 0, Vec::new());
    let from = reader.word(first) == "from";
    if from {
        while at < end && reader.word(at) != "import" {
            match reader.word(at) {
                dot if dot.bytes().all(|byte| byte == b'.') => {
                    dots += dot.len() * usize::from(base.is_empty());
                }
                name => base.push(name.to_owned()),
            }
            at += 1;
        }
        at += 1;
    }
    let mut found = Vec::new();
    while at < end {
        if matches!(reader.word(at), "(" | ")" | "," | ";") {
            at += 1;
            continue;
        }
        let stop = (at..end).find(|at| matches!(reader.word(*at), "," | ")" | ";"));
        let stop = stop.unwrap_or(end);
        found.push(python_leaf(reader, (at, stop), from.then_some(&base), dots));
        at = stop;
    }
    found
}

fn python_leaf(
    reader: &Reader<'_>,
    tokens: Range,
    base: Option<&Vec<String>>,
    dots: usize,
) -> Leaf {
    let alias = (tokens.0..tokens.1).find(|at| reader.word(*at) == "as");
    let names = (tokens.0..alias.unwrap_or(tokens.1)).map(|at| reader.word(at));
    let names = names.filter(|name| *name != ".").map(str::to_owned);
    let mut path: Vec<String> = base.cloned().unwrap_or_default();
    path.extend(names);
    let glob = path.last().is_some_and(|last| last == "*");
    let alias = alias.map(|at| reader.word(at + 1).to_owned());
    let (bound, stands_for) = match (alias, base) {
        (Some(alias), _) => (alias, path.clone()),
        (None, Some(_)) if glob => (String::new(), Vec::new()),
        (None, Some(_)) => (path.last().cloned().unwrap_or_default(), path.clone()),
        // `import a.b` binds `a`.
        (None, None) => {
            let first: Vec<String> = path.iter().take(1).cloned().collect();
            (first.first().cloned().unwrap_or_default(), first)
        }
    };
    Leaf {
        tokens,
        path,
        dots,
        bound,
        stands_for,
        glob,
    }
}

fn rust(reader: &Reader<'_>, (first, end): Range) -> Vec<Leaf> {
    let mut found = Vec::new();
    let skipped = match reader.word(first) {
        "extern" => 2,
        _ => 1,
    };
    tree(reader, first + skipped, end, &mut Vec::new(), &mut found);
    found
}

/// Reads one `use` tree; returns where it ends.
fn tree(
    reader: &Reader<'_>,
    first: u32,
    end: u32,
    prefix: &mut Vec<String>,
    found: &mut Vec<Leaf>,
) -> u32 {
    let (mut at, before) = (first, prefix.len());
    while at < end {
        match reader.word(at) {
            "::" => at += 1,
            "{" => {
                at = list(reader, at + 1, end, prefix, found);
                break;
            }
            "," | "}" | ";" => {
                found.extend(rust_leaf((first, at), prefix, None));
                break;
            }
            "as" => {
                found.extend(rust_leaf(
                    (first, at + 2),
                    prefix,
                    Some(reader.word(at + 1)),
                ));
                at += 2;
                break;
            }
            name => {
                prefix.push(name.to_owned());
                at += 1;
            }
        }
    }
    prefix.truncate(before);
    at
}

/// Reads the trees between braces; returns where to go on behind them.
fn list(
    reader: &Reader<'_>,
    first: u32,
    end: u32,
    prefix: &mut Vec<String>,
    found: &mut Vec<Leaf>,
) -> u32 {
    let mut at = first;
    while at < end {
        match reader.word(at) {
            "}" => return at + 1,
            "," => at += 1,
            _ => at = tree(reader, at, end, prefix, found).max(at + 1),
        }
    }
    end
}

fn rust_leaf(tokens: Range, prefix: &[String], alias: Option<&str>) -> Option<Leaf> {
    let mut path = prefix.to_vec();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let last = path.last()?.clone();
    let glob = last == "*";
    let bound = match alias {
        Some("_") => String::new(),
        Some(alias) => alias.to_owned(),
        None if glob => String::new(),
        None => last,
    };
    Some(Leaf {
        tokens,
        stands_for: path.clone(),
        path,
        dots: 0,
        bound,
        glob,
    })
}
