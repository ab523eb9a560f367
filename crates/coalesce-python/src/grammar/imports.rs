//! What import statements bring: one leaf a name, with the path that it stands for as it is written.

use coalesce_model::grammar::{ImportLeaf, TokenRange, Tokens};

/// The leaves of the statement that begins with its keyword.
pub fn leaves(tokens: &dyn Tokens, (first, end): TokenRange) -> Vec<ImportLeaf> {
    let from = tokens.word(first) == "from";
    let (mut at, dots, base) = match from {
        true => origin(tokens, (first + 1, end)),
        false => (first + 1, 0, Vec::new()),
    };
    let mut found = Vec::new();
    while at < end {
        if matches!(tokens.word(at), "(" | ")" | "," | ";") {
            at += 1;
            continue;
        }
        let stop = (at..end).find(|at| matches!(tokens.word(*at), "," | ")" | ";"));
        let stop = stop.unwrap_or(end);
        found.push(leaf(tokens, (at, stop), from.then_some(&base), dots));
        at = stop;
    }
    found
}

/// What stands between `from` and `import`: where to go on, the leading dots, and the path.
fn origin(tokens: &dyn Tokens, (first, end): TokenRange) -> (u32, usize, Vec<String>) {
    let (mut at, mut dots, mut base) = (first, 0, Vec::new());
    while at < end && tokens.word(at) != "import" {
        match tokens.word(at) {
            dot if dot.bytes().all(|byte| byte == b'.') => {
                dots += dot.len() * usize::from(base.is_empty());
            }
            name => base.push(name.to_owned()),
        }
        at += 1;
    }
    (at + 1, dots, base)
}

fn leaf(
    tokens: &dyn Tokens,
    range: TokenRange,
    base: Option<&Vec<String>>,
    dots: usize,
) -> ImportLeaf {
    let alias = (range.0..range.1).find(|at| tokens.word(*at) == "as");
    let names = (range.0..alias.unwrap_or(range.1)).map(|at| tokens.word(at));
    let names = names.filter(|name| *name != ".").map(str::to_owned);
    let mut path: Vec<String> = base.cloned().unwrap_or_default();
    path.extend(names);
    let glob = path.last().is_some_and(|last| last == "*");
    let alias = alias.map(|at| tokens.word(at + 1).to_owned());
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
    ImportLeaf {
        tokens: range,
        path,
        dots,
        bound,
        stands_for,
        glob,
    }
}
