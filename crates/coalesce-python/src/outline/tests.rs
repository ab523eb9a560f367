//! What the lexer and the units make of texts.

use coalesce_model::{Outline, OutlineToken, UnitKind, outline::marks};

use super::outline;

fn word<'t>(text: &'t str, token: &OutlineToken) -> &'t str {
    token.span.of(text).unwrap()
}

fn words(text: &str) -> Vec<&str> {
    let outline = outline(text);
    let tokens = outline.tokens.iter();
    tokens.map(|token| token.span.of(text).unwrap()).collect()
}

fn units(text: &str) -> Vec<(UnitKind, String, (u32, u32))> {
    let Outline { units, .. } = outline(text);
    let name = |span: coalesce_model::ByteSpan| span.of(text).unwrap().to_owned();
    let told = units
        .iter()
        .map(|unit| (unit.kind, name(unit.name), unit.lines));
    told.collect()
}

#[test]
fn comments_docstrings_and_layout_are_no_tokens() {
    for (text, expected) in [
        ("x = 1  # no\n", vec!["x", "=", "1"]),
        ("\"\"\"doc\nstring\"\"\"\nx\n", vec!["x"]),
        (
            "def f():\n    'doc'\n    return 1\n",
            vec!["def", "f", "(", ")", ":", "return", "1"],
        ),
        ("a = 'k' \\\n  + b", vec!["a", "=", "'k'", "+", "b"]),
        (
            "s = rb'a' f\"{x!r}\"",
            vec!["s", "=", "rb'a'", "f\"{x!r}\""],
        ),
        (
            "n = 1e-3 + .5j ** 2",
            vec!["n", "=", "1e-3", "+", ".5j", "**", "2"],
        ),
        ("t = '''open", vec!["t", "=", "'''open"]),
        ("\u{feff}é = 1", vec!["é", "=", "1"]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn units_end_where_the_indentation_does() {
    let text = "\
import a
from b import c

try:
    import cupy as cp
    GPU = True
except ImportError:
    GPU = False

@decorated
class A(B):
    x = 1

    async def m(self, a: int = 1) -> str:
        def inner():
            return a
        return inner

def f(): return 1
if __name__ == '__main__':
    f()
";
    assert_eq!(
        units(text),
        [
            (UnitKind::Module, String::new(), (1, 21)),
            (UnitKind::Imports, String::new(), (1, 2)),
            (UnitKind::GuardedImport, String::new(), (4, 8)),
            (UnitKind::Class, "A".to_owned(), (10, 17)),
            (UnitKind::Method, "m".to_owned(), (14, 17)),
            (UnitKind::Function, "inner".to_owned(), (15, 16)),
            (UnitKind::Function, "f".to_owned(), (19, 19)),
        ]
    );
}

#[test]
fn names_are_local_where_their_function_binds_them() {
    let text = "\
def f(a, *rest, key=other):
    b, (c, d) = a.c, g(key=1)
    for e in rest:
        with open(e) as h:
            k = [i for i in h]
    return lambda m: m + free
";
    let outline = outline(text);
    let local = |token: &&OutlineToken| token.has(marks::LOCAL);
    let mut names: Vec<&str> = outline
        .tokens
        .iter()
        .filter(local)
        .map(|t| word(text, t))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names,
        ["a", "b", "c", "d", "e", "h", "i", "k", "key", "m", "rest"]
    );
    let attribute = outline
        .tokens
        .iter()
        .find(|token| token.has(marks::ATTRIBUTE))
        .unwrap();
    assert!(!attribute.has(marks::LOCAL), "`a.c` is no local `c`");
}
