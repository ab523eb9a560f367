//! The builder of one file's tables, shared by the syntax tree's visitor and the token scanner.

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{
    NameId, Namespaces, Origin, PathFact, Scope, ScopeId, ScopeKind, Segment, SegmentRange,
    SourceFacts, StringFact, Visibility, VisibilityKind,
};

/// A local name: where `let`, parameters and generics hide items.
#[derive(Clone, Copy)]
struct Local<'t> {
    name: &'t str,
    namespaces: Namespaces,
}

/// A name that somebody asks for, and the paths that a local of that name would hide if they began with it: the first
/// byte of each, and where the local stands.
pub(super) struct Watched<'t> {
    pub name: &'t str,
    pub hidden: Vec<(u32, Namespaces)>,
}

/// Fills [`SourceFacts`].
pub(super) struct Builder<'t> {
    /// The whole text of the file.
    pub text: &'t str,
    /// The tables.
    pub facts: SourceFacts,
    /// The innermost scope.
    pub scope: ScopeId,
    /// Where paths are read from now.
    pub origin: Origin,
    /// The local name that is looked for besides.
    pub watched: Option<Watched<'t>>,
    known: FxHashMap<&'t str, NameId>,
    locals: Vec<Local<'t>>,
    barrier: usize,
}

/// What [`Builder::enter_item`] hid, to be given back to [`Builder::leave`].
#[derive(Clone, Copy)]
pub(super) struct Mark {
    locals: usize,
    barrier: usize,
}

impl<'t> Builder<'t> {
    pub fn new(text: &'t str) -> Self {
        let span = ByteSpan::from_range(0..text.len());
        let file = Scope {
            parent: None,
            kind: ScopeKind::File,
            span,
            items_start: 0,
            opaque: false,
        };
        let facts = SourceFacts {
            scopes: vec![file],
            ..SourceFacts::default()
        };
        Self {
            text,
            facts,
            scope: ScopeId(0),
            origin: Origin::Code,
            watched: None,
            known: FxHashMap::default(),
            locals: Vec::new(),
            barrier: 0,
        }
    }

    /// The text under `span`.
    pub fn slice(&self, span: ByteSpan) -> &'t str {
        span.of(self.text).unwrap_or_default()
    }

    pub fn intern(&mut self, name: &'t str) -> NameId {
        let name = name.strip_prefix("r#").unwrap_or(name);
        if let Some(id) = self.known.get(name) {
            return *id;
        }
        let id = NameId(index(self.facts.names.len()));
        self.facts.names.push(Box::from(name));
        self.known.insert(name, id);
        id
    }

    /// The segment that is written at `span`.
    pub fn segment(&mut self, span: ByteSpan) -> Segment {
        let text = self.slice(span);
        let name = if text.starts_with('$') {
            "$crate"
        } else {
            text
        };
        Segment {
            name: self.intern(name),
            span,
        }
    }

    pub fn push_segments(&mut self, segments: &[Segment]) -> SegmentRange {
        let start = index(self.facts.segments.len());
        let len = u16::try_from(segments.len()).unwrap_or(u16::MAX);
        self.facts
            .segments
            .extend(segments.iter().take(len as usize));
        SegmentRange { start, len }
    }

    /// Notes a path, and gives its index. `None` when its first segment is a local name or `Self`,
    /// so that it names no item.
    pub fn path(
        &mut self,
        segments: &[Segment],
        leading_colons: bool,
        namespaces: Namespaces,
    ) -> Option<u32> {
        let first = segments.first()?;
        if !leading_colons && !self.may_name_item(first, segments.len(), namespaces) {
            return None;
        }
        self.watch(first.span.start);
        let segments = self.push_segments(segments);
        let path = PathFact {
            scope: self.scope,
            segments,
            namespaces,
            origin: self.origin,
            leading_colons,
            may_bind: false,
        };
        self.facts.paths.push(path);
        Some(index(self.facts.paths.len() - 1))
    }

    /// Notes where a path begins, if a local would hide the name that is watched there.
    fn watch(&mut self, at: u32) {
        let locals = self.locals.get(self.barrier..).unwrap_or_default();
        let Some(watched) = &mut self.watched else {
            return;
        };
        let mut hidden = Namespaces::default();
        for local in locals.iter().filter(|local| local.name == watched.name) {
            hidden = hidden.or(local.namespaces);
        }
        if hidden != Namespaces::default() {
            watched.hidden.push((at, hidden));
        }
    }

    fn may_name_item(&self, first: &Segment, len: usize, namespaces: Namespaces) -> bool {
        let name = self.slice(first.span);
        if matches!(name, "Self" | "_") || (len == 1 && matches!(name, "self" | "super" | "crate"))
        {
            return len == 1 && namespaces == Namespaces::TYPE && matches!(name, "super" | "crate");
        }
        let wanted = match self.origin {
            _ if len > 1 => Namespaces::TYPE,
            // A macro may take for a type what reads as a value, and the other way round.
            Origin::MacroArguments | Origin::MacroTokens if namespaces != Namespaces::MACRO => {
                namespaces.or(Namespaces::TYPE).or(Namespaces::VALUE)
            }
            _ => namespaces,
        };
        !self.is_local(name, wanted)
    }

    /// Whether a local name hides all that `name` could be in these namespaces.
    pub fn is_local(&self, name: &str, namespaces: Namespaces) -> bool {
        let locals = self.locals.get(self.barrier..).unwrap_or_default();
        locals
            .iter()
            .rev()
            .any(|local| local.name == name && local.namespaces.meets(namespaces))
    }

    pub fn bind(&mut self, name: &'t str, namespaces: Namespaces) {
        let name = name.strip_prefix("r#").unwrap_or(name);
        self.locals.push(Local { name, namespaces });
    }

    pub fn mark(&self) -> Mark {
        Mark {
            locals: self.locals.len(),
            barrier: self.barrier,
        }
    }

    /// Hides all locals: the inside of an item does not see those of the function around it.
    pub fn enter_item(&mut self) -> Mark {
        let mark = self.mark();
        self.barrier = self.locals.len();
        mark
    }

    pub fn leave(&mut self, mark: Mark) {
        self.locals.truncate(mark.locals);
        self.barrier = mark.barrier;
    }

    /// Opens a scope and makes it the innermost; gives the one that was.
    pub fn open_scope(&mut self, kind: ScopeKind, span: ByteSpan, items_start: u32) -> ScopeId {
        let outer = self.scope;
        self.scope = ScopeId(index(self.facts.scopes.len()));
        self.facts.scopes.push(Scope {
            parent: Some(outer),
            kind,
            span,
            items_start,
            opaque: false,
        });
        outer
    }
    /// Opens the scope of the module that was declared last, and gives it that one as its body.
    pub fn open_module(&mut self, span: ByteSpan, items_start: u32) -> ScopeId {
        let at = self.facts.modules.len() - 1;
        let outer = self.open_scope(ScopeKind::Module(index(at)), span, items_start);
        if let Some(declaration) = self.facts.modules.get_mut(at) {
            declaration.body = Some(self.scope);
        }
        outer
    }
    /// Names may stand in the innermost scope that nobody can see.
    pub fn mark_opaque(&mut self) {
        if let Some(scope) = self.facts.scopes.get_mut(self.scope.0 as usize) {
            scope.opaque = true;
        }
    }

    /// Notes a string literal when it holds a name with `::` or the path of a file, also one that cargo is told to watch.
    pub fn string(&mut self, content: ByteSpan) {
        let before = watched_behind(self.slice(content));
        let content = ByteSpan::new(content.start + index(before), content.end);
        let value = self.slice(content);
        if is_file_path(value) {
            self.facts.path_strings.push(StringFact {
                scope: self.scope,
                value: Box::from(value),
                span: content,
            });
            return;
        }
        if is_path(value) && value.contains("::") {
            self.facts.strings.push(StringFact {
                scope: self.scope,
                value: Box::from(value),
                span: content,
            });
        }
    }

    /// The path that `content` spells, as a path of this scope.
    pub fn path_in_text(&mut self, content: ByteSpan, namespaces: Namespaces) -> Option<u32> {
        let segments = self.segments_of_text(content)?;
        self.path(&segments, self.slice(content).starts_with("::"), namespaces)
    }

    fn segments_of_text(&mut self, content: ByteSpan) -> Option<Vec<Segment>> {
        let text = self.slice(content);
        if !is_path(text) {
            return None;
        }
        let mut at = content.start;
        let mut segments = Vec::new();
        for part in text.split("::") {
            let end = at + index(part.len());
            if !part.is_empty() {
                segments.push(self.segment(ByteSpan::new(at, end)));
            }
            at = end + 2;
        }
        Some(segments)
    }
}

/// Whether `text` is a path without generic arguments: `a`, `a::b`, `::a`.
pub(super) fn is_path(text: &str) -> bool {
    let text = text.strip_prefix("::").unwrap_or(text);
    !text.is_empty() && text.split("::").all(is_identifier)
}

/// How many bytes stand before the path in what a build script prints to have cargo watch it.
fn watched_behind(text: &str) -> usize {
    let mut starts = ["cargo:rerun-if-changed=", "cargo::rerun-if-changed="].into_iter();
    let start = starts.find(|start| text.starts_with(start));
    start.map_or(0, str::len)
}

/// Whether `text` looks like the path of a file or a pattern of paths.
fn is_file_path(text: &str) -> bool {
    let path = text.contains('/') || text.ends_with(".rs");
    path && text.len() <= 200
        && !text.contains("//")
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn is_identifier(text: &str) -> bool {
    let text = text.strip_prefix("r#").unwrap_or(text);
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic() || byte >= 0x80)
        && text.bytes().all(crate::lexer::is_ident_byte)
}

/// Private, with the place where `pub` would go.
pub(super) fn private(at: u32) -> Visibility {
    Visibility {
        kind: VisibilityKind::Private,
        span: ByteSpan::empty(at),
    }
}

/// A table index; a file is smaller than 4 GiB and so are its tables.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("invariant: a file that is read is smaller than 4 GiB")
}
