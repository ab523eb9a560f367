//! The units of a kernel file by its braces: functions, types, tables, and macros with a body.
//!
//! Branches of `#if` count once: behind `#else` nesting is what it was at `#if`. What has no body is
//! no unit, so declarations, explicit instantiations and calls of macros at the top are none.

use coalesce_model::{
    ByteSpan, LineIndex, Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind, outline::marks,
};

use crate::{
    lexer::{self, Token},
    locals,
};

/// Tokens that a macro's body must have to be a unit.
const MACRO_TOKENS: usize = 24;
/// Tokens that a table at the top must have to be a unit.
const TABLE_TOKENS: usize = 24;
/// Words before parentheses that are no parameters of a function.
const NOT_NAMES: [&str; 14] = [
    "__launch_bounds__",
    "__attribute__",
    "__declspec",
    "__align__",
    "alignas",
    "decltype",
    "noexcept",
    "requires",
    "if",
    "while",
    "for",
    "switch",
    "defined",
    "sizeof",
];

/// Tokens and units of the part of `text` at `span`.
#[must_use]
pub fn outline(text: &str, span: ByteSpan) -> Outline {
    let tokens = lexer::tokens(text, span);
    let lines = LineIndex::new(text);
    let last_byte = span.end.saturating_sub(1).max(span.start);
    let module = OutlineUnit {
        kind: UnitKind::Module,
        name: ByteSpan::empty(span.start),
        parent: None,
        first: 0,
        body: 0,
        end: number(tokens.len()),
        lines: (lines.line_number(span.start), lines.line_number(last_byte)),
    };
    let mut reader = Reader {
        text,
        lines,
        tokens: &tokens,
        marks: vec![0; tokens.len()],
        units: vec![module],
    };
    reader.scope(0, tokens.len(), 0, false);
    let mut outline = reader.into_outline();
    locals::mark(text, &mut outline);
    outline
}

/// Puts units into the order of their first tokens, outer ones first, and leads parents along.
fn sort(units: &mut Vec<OutlineUnit>) {
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by_key(|at| {
        let unit = units.get(*at);
        unit.map(|unit| (unit.first, std::cmp::Reverse(unit.end), *at))
    });
    let mut new_place = vec![0; units.len()];
    for (new, old) in order.iter().enumerate() {
        if let Some(place) = new_place.get_mut(*old) {
            *place = number(new);
        }
    }
    let sorted: Vec<OutlineUnit> = order
        .iter()
        .filter_map(|at| units.get(*at))
        .map(|unit| OutlineUnit {
            parent: unit
                .parent
                .and_then(|parent| new_place.get(parent as usize).copied()),
            ..unit.clone()
        })
        .collect();
    *units = sorted;
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What the tokens before a `{` say that it opens.
enum Opens {
    /// A function with this name.
    Function(usize),
    /// A type with this name.
    Type(usize),
    /// A namespace, or `extern "C"`: what is in it stands around it.
    Transparent,
    /// A table.
    Table,
    /// Nothing that is known.
    Other,
}

/// How deep brackets are behind a directive; `branches` has how deep they were at each `#if` around it.
fn depth_behind(directive: &str, depth: usize, branches: &mut Vec<usize>) -> usize {
    match directive {
        "if" | "ifdef" | "ifndef" => branches.push(depth),
        "else" | "elif" => return branches.last().copied().unwrap_or(depth),
        "endif" => {
            branches.pop();
        }
        _ => {}
    }
    depth
}

struct Reader<'t> {
    text: &'t str,
    lines: LineIndex,
    tokens: &'t [Token],
    marks: Vec<u8>,
    units: Vec<OutlineUnit>,
}

impl Reader<'_> {
    fn into_outline(mut self) -> Outline {
        // An outer unit is found after what stands in it.
        sort(&mut self.units);
        let tokens = self.tokens.iter().zip(self.marks);
        let tokens = tokens.map(|(token, marks)| OutlineToken {
            span: token.span,
            class: token.class,
            marks,
        });
        Outline {
            tokens: tokens.collect(),
            units: self.units,
        }
    }

    fn word(&self, at: usize) -> &str {
        ByteSpan::text_under(self.tokens.get(at).map(|token| token.span), self.text)
    }

    fn is_word(&self, at: usize) -> bool {
        let class = self.tokens.get(at).map(|token| token.class);
        matches!(class, Some(TokenClass::Word | TokenClass::Keyword))
    }

    fn is_directive(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.directive)
    }

    fn mark(&mut self, at: usize, mark: u8) {
        if let Some(marks) = self.marks.get_mut(at) {
            *marks |= mark;
        }
    }

    /// Reads what stands between `from` and `to` in no function.
    fn scope(&mut self, from: usize, to: usize, parent: u32, in_type: bool) {
        let (mut at, mut head) = (from, from);
        while at < to {
            if self.is_directive(at) {
                at = self.directive(at, to, parent);
                head = at;
                continue;
            }
            match self.word(at) {
                "{" => {
                    let end = self.closing(at, to);
                    at = self.opened((head, at, end), to, parent, in_type);
                    head = at;
                }
                ";" | "}" => {
                    at += 1;
                    head = at;
                }
                ":" if at == head + 1 && in_type => {
                    at += 1;
                    head = at;
                }
                _ => at += 1,
            }
        }
    }

    /// Reads what a `{` opens; where to go on.
    fn opened(
        &mut self,
        (head, open, end): (usize, usize, usize),
        to: usize,
        parent: u32,
        in_type: bool,
    ) -> usize {
        match self.opens(head, open) {
            Opens::Function(name) => {
                let kind = match in_type {
                    true => UnitKind::Method,
                    false => UnitKind::Function,
                };
                self.mark(name, marks::DEFINED);
                self.mark_statements(open, end);
                self.unit(kind, Some(name), parent, (head, open, end));
            }
            Opens::Type(name) => {
                self.mark(name, marks::DEFINED);
                let unit = self.unit(UnitKind::Class, Some(name), parent, (head, open, end));
                self.scope(open + 1, end.saturating_sub(1), unit, true);
            }
            Opens::Transparent => self.scope(open + 1, end.saturating_sub(1), parent, in_type),
            Opens::Table => {
                let behind = self.behind_statement(end, to);
                if end - open >= TABLE_TOKENS && !in_type {
                    self.mark(head, marks::STATEMENT);
                    self.unit(UnitKind::Block, None, parent, (head, head, behind));
                }
                return behind;
            }
            Opens::Other => {}
        }
        end
    }

    /// One past the `;` that follows; `at` where none does.
    fn behind_statement(&self, at: usize, to: usize) -> usize {
        let closes = (at..to).find(|at| self.word(*at) == ";");
        closes.map_or(at, |at| at + 1)
    }

    fn opens(&self, head: usize, open: usize) -> Opens {
        let (mut at, mut brackets, mut name, mut kind) = (head, 0_usize, None, None);
        let mut table = false;
        while at < open {
            match self.word(at) {
                "template" if self.word(at + 1) == "<" => at = self.behind_angles(at + 1, open) - 1,
                "namespace" => return Opens::Transparent,
                "extern" if self.word(at + 1).starts_with('"') && at + 2 == open => {
                    return Opens::Transparent;
                }
                "[" => brackets += 1,
                "]" => brackets = brackets.saturating_sub(1),
                "struct" | "class" | "union" | "enum" if name.is_none() => kind = Some(at),
                "=" if brackets == 0 && self.word(at.wrapping_sub(1)) != "operator" => table = true,
                "(" if brackets == 0 => {
                    let before = at.checked_sub(1).filter(|before| *before >= head);
                    let named = before.filter(|before| self.names_function(*before));
                    name = named.or(name);
                    at = self.closing(at, open) - 1;
                }
                // What follows belongs to a constructor, or is a result.
                ":" | "->" if name.is_some() => break,
                _ => {}
            }
            at += 1;
        }
        match (name, kind) {
            _ if table => Opens::Table,
            (Some(name), _) => Opens::Function(name),
            (None, Some(kind)) => self.type_name(kind, open).map_or(Opens::Other, Opens::Type),
            (None, None) => Opens::Other,
        }
    }

    fn names_function(&self, at: usize) -> bool {
        let named = self.is_word(at) && !NOT_NAMES.contains(&self.word(at));
        named || self.word(at.saturating_sub(1)) == "operator"
    }

    /// The last word before `{` or a list of bases that is not in parentheses.
    fn type_name(&self, kind: usize, open: usize) -> Option<usize> {
        let (mut at, mut name) = (kind + 1, None);
        while at < open {
            match self.word(at) {
                ":" => break,
                "(" => at = self.closing(at, open) - 1,
                "<" => at = self.behind_angles(at, open) - 1,
                "class" | "struct" | "final" => {}
                _ if self.is_word(at) => name = Some(at),
                _ => {}
            }
            at += 1;
        }
        name
    }

    /// One past the `>` that closes the `<` at `at`.
    fn behind_angles(&self, at: usize, to: usize) -> usize {
        let mut depth = 0_usize;
        for at in at..to {
            match self.word(at) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                ">>" => depth = depth.saturating_sub(2),
                ">>>" => depth = depth.saturating_sub(3),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        to
    }

    /// One past the bracket that closes the one at `open`; `to` where none does. Behind `#else`
    /// nesting is what it was at `#if`.
    fn closing(&self, open: usize, to: usize) -> usize {
        let (mut depth, mut branches, mut at) = (0_usize, Vec::new(), open);
        while at < to {
            if self.is_directive(at) {
                at = match self.directive_name(at) {
                    // The other branch of an `#if` before `open` says the same again.
                    "else" | "elif" if branches.is_empty() => self.behind_branches(at, to),
                    name => {
                        depth = depth_behind(name, depth, &mut branches);
                        self.directive_end(at, to)
                    }
                };
                continue;
            }
            match self.word(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
        to
    }

    /// Where the `#endif` stands that ends the branches that go on at `at`.
    fn behind_branches(&self, at: usize, to: usize) -> usize {
        let (mut depth, mut at) = (0_usize, at + 1);
        while at < to {
            match self.directive_name(at) {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth == 0 => return self.directive_end(at, to),
                "endif" => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        to
    }

    fn directive_name(&self, at: usize) -> &str {
        let begins = self
            .tokens
            .get(at)
            .is_some_and(|token| token.begins_directive);
        if begins { self.word(at + 1) } else { "" }
    }

    fn directive_end(&self, at: usize, to: usize) -> usize {
        let goes_on = |at: &usize| {
            let token = self.tokens.get(*at);
            token.is_none_or(|token| !token.directive || token.begins_directive)
        };
        (at + 1..to).find(goes_on).unwrap_or(to)
    }

    /// Reads a directive: a macro with a body is a unit.
    fn directive(&mut self, at: usize, to: usize, parent: u32) -> usize {
        let end = self.directive_end(at, to);
        match self.directive_name(at) {
            "include" => {
                let mut behind = end;
                while self.directive_name(behind) == "include" && behind < to {
                    behind = self.directive_end(behind, to);
                }
                self.mark(at, marks::STATEMENT);
                behind
            }
            "define" => {
                let mut body = at + 3;
                if self.word(body) == "(" {
                    body = self.closing_in_line(body, end);
                }
                if end.saturating_sub(body) >= MACRO_TOKENS {
                    self.mark(at + 2, marks::DEFINED);
                    self.mark_statements(body, end);
                    self.unit(UnitKind::Function, Some(at + 2), parent, (at, body, end));
                }
                end
            }
            _ => end,
        }
    }

    /// One past the `)` of a macro's parameters.
    fn closing_in_line(&self, open: usize, to: usize) -> usize {
        let close = (open..to).find(|at| self.word(*at) == ")");
        close.map_or(to, |close| close + 1)
    }

    /// Marks where statements begin: behind `;`, `{` and `}` that stand in no parentheses.
    fn mark_statements(&mut self, from: usize, to: usize) {
        let (mut parens, mut begins) = (0_usize, true);
        for at in from..to {
            let (opens, closes, ends) = match self.word(at) {
                "(" => (1, 0, false),
                ")" => (0, 1, false),
                "{" | "}" | ";" => (0, 0, true),
                _ => (0, 0, false),
            };
            if begins && !ends {
                self.mark(at, marks::STATEMENT);
            }
            parens = (parens + opens).saturating_sub(closes);
            begins = ends && parens == 0;
        }
    }

    fn unit(
        &mut self,
        kind: UnitKind,
        name: Option<usize>,
        parent: u32,
        (first, body, end): (usize, usize, usize),
    ) -> u32 {
        let byte = |at: usize| self.tokens.get(at).map(|token| token.span);
        let start = byte(first).map_or(0, |span| span.start);
        let last = byte(end.saturating_sub(1)).map_or(start, |span| span.end.saturating_sub(1));
        let name = name
            .and_then(byte)
            .unwrap_or_else(|| ByteSpan::empty(start));
        self.units.push(OutlineUnit {
            kind,
            name,
            parent: Some(parent),
            first: number(first),
            body: number(body),
            end: number(end),
            lines: (self.lines.line_number(start), self.lines.line_number(last)),
        });
        number(self.units.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `kind name` of each unit but the module, the names around it in front.
    fn units(text: &str) -> Vec<String> {
        let outline = outline(text, ByteSpan::from_range(0..text.len()));
        let name = |unit: &OutlineUnit| unit.name.of(text).unwrap_or("").to_owned();
        let told = outline.units.iter().skip(1).map(|unit| {
            let parent = unit.parent.and_then(|at| outline.units.get(at as usize));
            let parent = parent.map(name).filter(|name| !name.is_empty());
            let parent = parent.map_or(String::new(), |name| format!("{name}::"));
            format!("{:?} {parent}{}", unit.kind, name(unit))
        });
        told.collect()
    }

    #[test]
    fn functions_and_types_have_the_names_that_a_compiler_gives_them() {
        let cases: [(&str, &[&str]); 14] = [
            (
                "__global__ void scale(float* x) { x[0] = 1; }",
                &["Function scale"],
            ),
            (
                "template <typename T, int N = f(3)> __device__ T __forceinline__ sum(const T* x) { return x[0]; }",
                &["Function sum"],
            ),
            (
                "__global__ void __launch_bounds__(256, 2) norm(const half* x) { }",
                &["Function norm"],
            ),
            ("extern \"C\" { __global__ void a() { } }", &["Function a"]),
            ("extern \"C\" __global__ void a() { }", &["Function a"]),
            (
                "namespace n { struct Pool : Base<int> { int size() const { return 1; } int field; }; }",
                &["Class Pool", "Method Pool::size"],
            ),
            (
                "Pool::Pool(int a) : a_(a), b_{f(2)} { g(); }",
                &["Function Pool"],
            ),
            (
                "[[host_name(\"add\")]] kernel void add(device float* a [[buffer(0)]]) { a[0] = 1; }",
                &["Function add"],
            ),
            (
                "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { }\n\
                 struct Params { n: u32 }",
                &["Function main", "Class Params"],
            ),
            (
                "__kernel void add(__global const float* a) { int i = get_global_id(0); }",
                &["Function add"],
            ),
            (
                "#ifdef A\nvoid f(int a) {\n#else\nvoid f(float a) {\n#endif\n g(); }\nvoid h() { }",
                &["Function f", "Function h"],
            ),
            (
                "void f(int);\ntemplate void g<float>(float*);\nINSTANTIATE(int)",
                &[],
            ),
            ("struct __align__(16) Vec { float x; };", &["Class Vec"]),
            (
                "bool operator==(const A& a, const A& b) { return true; }",
                &["Function =="],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(units(text), expected, "{text}");
        }
    }

    #[test]
    fn a_macro_with_a_body_is_a_unit() {
        let body = "x[i] = FUNC(x[i]); ".repeat(4);
        let text = format!(
            "#define UNARY(NAME, FUNC) \\\n extern \"C\" __global__ void NAME(float* x) {{ \\\n {body} }}\n#define N 4\n"
        );
        assert_eq!(units(&text), ["Function UNARY"]);
    }

    #[test]
    fn local_names_are_marked_where_they_stand() {
        let text = "__global__ void f(const float* src, int count) {\n  const int at = blockIdx.x;\n  \
                    float a = 0.f, b = src[at];\n  for (int j = 0; j < count; ++j) a += other(b);\n}";
        let outline = outline(text, ByteSpan::from_range(0..text.len()));
        let unit = outline.units.get(1).expect("there is a function");
        let body = outline.tokens.get(unit.body as usize..unit.end as usize);
        let mut locals: Vec<&str> = body
            .unwrap_or_default()
            .iter()
            .filter(|token| token.has(marks::LOCAL))
            .filter_map(|token| token.span.of(text))
            .collect();
        locals.sort_unstable();
        locals.dedup();
        assert_eq!(locals, ["a", "at", "b", "count", "j", "src"]);
    }

    #[test]
    fn what_is_cut_off_ends_with_the_text() {
        for text in [
            "void f( {",
            "struct",
            "{{{",
            "}}}",
            "#define A(",
            "template <",
            "void f() { \"",
            "((((",
        ] {
            let outline = outline(text, ByteSpan::from_range(0..text.len()));
            for unit in &outline.units {
                assert!(unit.first <= unit.body && unit.body <= unit.end, "{text}");
                assert!(unit.end as usize <= outline.tokens.len(), "{text}");
            }
        }
    }
}
