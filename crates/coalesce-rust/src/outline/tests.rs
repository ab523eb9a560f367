//! What the outline makes of texts.

use coalesce_model::{OutlineToken, UnitKind, outline::marks};

use super::outline;

#[test]
fn units_are_what_has_a_body() {
    let text = "\
use a::b;
use c;
const TABLE: [u8; 2] = [1, 2];
#[derive(Debug)]
pub struct A { x: u8 }
struct Unit;
trait T {
    fn declared(&self);
    fn given(&self) -> u8 { 1 }
}
impl<X: Into<u8>> T for A<X> {
    fn declared(&self) {}
}
mod inner {
    pub fn f(a: impl Fn() -> u8) -> u8 {
        fn g() {}
        a()
    }
}
macro_rules! m { () => {}; }
";
    let found = outline(text);
    let told: Vec<_> = found
        .units
        .iter()
        .map(|unit| (unit.kind, unit.name.of(text).unwrap(), unit.lines))
        .collect();
    assert_eq!(
        told,
        [
            (UnitKind::Module, "", (1, 20)),
            (UnitKind::Imports, "", (1, 2)),
            (UnitKind::Block, "TABLE", (3, 3)),
            (UnitKind::Class, "A", (4, 5)),
            (UnitKind::Class, "T", (7, 10)),
            (UnitKind::Method, "given", (9, 9)),
            (UnitKind::Impl, "A", (11, 13)),
            (UnitKind::Method, "declared", (12, 12)),
            (UnitKind::Module, "inner", (14, 19)),
            (UnitKind::Function, "f", (15, 18)),
            (UnitKind::Function, "g", (16, 16)),
            (UnitKind::Function, "m", (20, 20)),
        ]
    );
}

#[test]
fn names_are_local_where_their_function_binds_them() {
    let text = "\
fn f(a: u8, (b, c): (u8, u8)) {
    let d: Thing = a.d(|e| e + free);
    for g in b.iter() {
        match g { Some(h) if h > 1 => h, other => Kind::None }
    }
    if let Ok(i) = call(d) { i }
}
";
    let outline = outline(text);
    let local = |token: &&OutlineToken| token.has(marks::LOCAL);
    let tokens = outline.tokens.iter().filter(local);
    let mut names: Vec<&str> = tokens.map(|token| token.span.of(text).unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["a", "d", "e", "g", "h", "i", "other"]);
}

#[test]
fn parameters_are_those_behind_the_keyword() {
    for head in [
        "pub(crate) fn f(a: u8)",
        "#[inline(always)] fn f(a: u8)",
        "fn f<F: Fn(u8) -> u8>(a: F)",
    ] {
        let text = format!("{head} {{ a.b(); }}");
        let outline = outline(&text);
        let parameters = outline
            .tokens
            .iter()
            .filter(|token| token.has(marks::PARAMETER));
        let names: Vec<&str> = parameters
            .map(|token| token.span.of(&text).unwrap())
            .collect();
        assert_eq!(names, ["a"], "{head}");
    }
}

#[test]
fn a_head_in_brackets_that_end_before_it_leaves_no_unit_open() {
    let text = "\
fn first() {
    link!(\"library\" fn first(a: u8) -> u8);
    first()
}
fn second() {
    second()
}
";
    let found = outline(text);
    let lines: Vec<_> = found.units.iter().map(|unit| unit.lines).collect();
    assert_eq!(lines, [(1, 7), (1, 4), (5, 7)]);
}
