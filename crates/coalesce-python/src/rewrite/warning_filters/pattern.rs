//! Whether a module's warnings pass a filter, as far as its expression is a plain one.

use std::str::Chars;

use super::written::Filter;
use crate::names::is_word;

/// What one character of a name is held against.
enum Atom {
    One(char),
    Any,
    Word,
    End,
}

/// An atom, and how often it may be there.
struct Repeated {
    atom: Atom,
    least: usize,
    most: usize,
}

/// An expression with more parts that may be of any length is not looked at.
const MOST_OPEN: usize = 3;

/// What a filter says of the warnings of a module; nothing where its expression is not a plain one and may be about it.
pub(super) fn passes(filter: &Filter, module: &str) -> Option<bool> {
    if !filter.read {
        return None;
    }
    if filter.exact {
        return Some(filter.module == module);
    }
    let plain: Option<Vec<Vec<Repeated>>> = filter.module.split('|').map(atoms).collect();
    match plain {
        Some(ways) => Some(ways.iter().any(|way| begins(module, way))),
        None => is_excluded(&filter.module, module).then_some(false),
    }
}

/// Whether what an expression that is not understood begins with passes no such name.
fn is_excluded(expression: &str, module: &str) -> bool {
    let open = expression.find(['(', '[', '{']).unwrap_or(0);
    let head = expression.get(..open).unwrap_or_default();
    // `a{2}` says how often the last one is there.
    let head = match expression
        .get(open..)
        .is_some_and(|rest| rest.starts_with('{'))
    {
        true => head.get(..head.len().saturating_sub(1)).unwrap_or_default(),
        false => head,
    };
    let plain = !expression.contains('|') && !head.ends_with('\\');
    let atoms = plain.then(|| atoms(head)).flatten();
    atoms.is_some_and(|atoms| !begins(module, &atoms))
}

/// The atoms of an expression without groups, sets and conditions.
fn atoms(expression: &str) -> Option<Vec<Repeated>> {
    let mut rest = expression.trim_start_matches('^').chars();
    let mut found: Vec<Repeated> = Vec::new();
    while let Some(c) = rest.next() {
        let atom = match c {
            '*' | '+' | '?' => {
                repeat(found.last_mut()?, c);
                // Whether it takes as few as it can makes no difference to whether it fits.
                if rest.as_str().starts_with(['?', '+']) {
                    rest.next();
                }
                continue;
            }
            '\\' => escaped(&mut rest)?,
            '.' => Atom::Any,
            '$' => Atom::End,
            '(' | ')' | '[' | ']' | '{' | '}' | '^' => return None,
            one => Atom::One(one),
        };
        found.push(Repeated {
            atom,
            least: 1,
            most: 1,
        });
    }
    let open = found.iter().filter(|each| each.most == usize::MAX);
    (open.count() <= MOST_OPEN).then_some(found)
}

fn escaped(rest: &mut Chars<'_>) -> Option<Atom> {
    match rest.next()? {
        'w' => Some(Atom::Word),
        'Z' => Some(Atom::End),
        c if c.is_alphanumeric() => None,
        c => Some(Atom::One(c)),
    }
}

fn repeat(last: &mut Repeated, how: char) {
    if how != '+' {
        last.least = 0;
    }
    if how != '?' {
        last.most = usize::MAX;
    }
}

/// Whether a name begins with what atoms stand for.
fn begins(name: &str, atoms: &[Repeated]) -> bool {
    let Some((first, rest)) = atoms.split_first() else {
        return true;
    };
    if matches!(first.atom, Atom::End) {
        return name.is_empty() && begins(name, rest);
    }
    let fits = |c: &char| match first.atom {
        Atom::One(one) => one == *c,
        Atom::Any => true,
        Atom::Word => is_word(*c),
        Atom::End => false,
    };
    let longest = name.chars().take_while(fits).count().min(first.most);
    (first.least..=longest).any(|count| {
        let end = name
            .char_indices()
            .nth(count)
            .map_or(name.len(), |(at, _)| at);
        name.get(end..).is_some_and(|name| begins(name, rest))
    })
}

#[cfg(test)]
mod tests {
    use coalesce_model::ByteSpan;

    use super::*;

    #[test]
    fn expressions_pass_what_python_lets_pass() {
        for (module, name, expected) in [
            ("p.b", "p.b", Some(true)),
            ("p.b", "p.bc", Some(true)),
            (r"p\.b$", "p.bc", Some(false)),
            (r"p\.b\Z|q", "qr", Some(true)),
            ("p.*old", "p.very.old", Some(true)),
            (r"p\.\w+$", "p.a.b", Some(false)),
            ("", "p", Some(true)),
            ("p.b", "x.p.b", Some(false)),
            (r"(p|q)\.old", "p.old", None),
            (r"(p|q)\.old", "p.young", None),
            (r"p(\..*)?$", "p.old", None),
            (r"p(\..*)?$", "other.old", Some(false)),
            (r"p{1}\.old", "q.old", None),
            (r"p\.o+?$", "p.", Some(false)),
        ] {
            let filter = Filter {
                span: ByteSpan::empty(0),
                module: module.to_owned(),
                exact: false,
                read: true,
            };
            assert_eq!(passes(&filter, name), expected, "{module} {name}");
        }
    }
}
