//! What documentation says of a method: links, and calls in its code.

use coalesce_model::{ByteSpan, Form, UnprovenKind};

use super::{
    reader::{self, DotCall},
    sources::ParsedFile,
    uses::{FileInWork, MethodPlaces, UsesOfMethod, length},
    values::{CalledOnType, WayToType},
    written::HowTaken,
};
use crate::regressions::is_open_module;

/// Code in documentation.
pub(super) struct DocumentCode {
    pub source: ParsedFile,
    pub statements: Vec<syn::Stmt>,
}

impl MethodPlaces<'_, '_> {
    /// What documents say: links by `Self`, and calls by a dot in code.
    pub(super) fn documents(&self, work: &mut FileInWork<'_>, uses: &mut UsesOfMethod) {
        self.own_links(work, uses);
        if self.written.taken == HowTaken::Nothing {
            return;
        }
        for code in &work.facts.doc_code {
            let mut said = self.calls_said(work, code.span);
            if said.is_empty() {
                continue;
            }
            self.calls_in_code(work, code.span, uses);
            said.retain(|name| work.settled.insert(name.start));
            for name in said {
                self.unknown(work, name, uses);
            }
        }
    }

    /// Where code says the name of the method behind a dot, and calls it.
    fn calls_said(&self, work: &FileInWork<'_>, code: ByteSpan) -> Vec<ByteSpan> {
        let text = code.of(work.text).unwrap_or_default();
        let dotted = format!(".{}", self.method.name);
        let found = text.match_indices(&dotted).filter_map(|(at, dotted)| {
            let behind = text.get(at + dotted.len()..)?;
            let start = code.start + u32::try_from(at + 1).ok()?;
            let is_call = behind.starts_with('(') || behind.starts_with("::");
            is_call.then(|| ByteSpan::new(start, start + length(&self.method.name)))
        });
        found.collect()
    }

    /// Spells the calls of code anew whose receivers are known.
    fn calls_in_code(&self, work: &mut FileInWork<'_>, span: ByteSpan, uses: &mut UsesOfMethod) {
        let read = blanked(work.text, span)
            .and_then(|code| self.sources.document(work.file, (span.start, &code)));
        let module = self.module_at(work.file, span.start);
        let Some((code, module)) = read.zip(module) else {
            return;
        };
        let Ok(path) = self.path_from(module, true) else {
            return;
        };
        let path = self.is_shown_to_documents().then_some(path.as_str());
        let method = (self.method.of, self.method.name.as_str());
        for call in reader::calls_in_document(self.sources, &code, method) {
            self.call_in_code(work, &call, path, uses);
        }
    }

    /// Spells one of them by the path of the function, if code in documentation can name that.
    fn call_in_code(
        &self,
        work: &mut FileInWork<'_>,
        call: &DotCall,
        path: Option<&str>,
        uses: &mut UsesOfMethod,
    ) {
        let name = ByteSpan::new(call.name, call.name + length(&self.method.name));
        let way = self.way_in_document(work, call);
        let Some(way) = way.filter(|_| work.settled.insert(name.start)) else {
            return;
        };
        match (way, path) {
            (None, _) => {}
            (Some(_), None) => self.hidden_from_documents(work, name, uses),
            (Some(way), Some(path)) => {
                self.call(work, (call, way, name), (path, Form::DocCode), uses);
            }
        }
    }

    /// Whether code in documentation, which is no part of the crate, can name the function where it goes.
    pub(super) fn is_shown_to_documents(&self) -> bool {
        let world = self.sources.world;
        let to = &self.method.change.to;
        let parent = to.rsplit_once("::").map_or("", |(parent, _)| parent);
        let mut homes = world.modules_named(parent).into_iter();
        let is_public = matches!(self.method.function.vis, syn::Visibility::Public(_));
        is_public && homes.any(|home| is_open_module(world, home))
    }

    pub(super) fn hidden_from_documents(
        &self,
        work: &FileInWork<'_>,
        name: ByteSpan,
        uses: &mut UsesOfMethod,
    ) {
        // The shim is called there, as before.
        if self.shim {
            return;
        }
        let to = &self.method.change.to;
        let why = format!("code in documentation calls it, and nobody outside can name `{to}`");
        self.doubt(work, name, UnprovenKind::Unread, why, uses);
    }

    /// How a call comes to the type; nothing at all where that is not known, no way where it is somebody else's.
    fn way_in_document(&self, work: &FileInWork<'_>, call: &DotCall) -> Option<Option<WayToType>> {
        // What arguments of several lines read is not asked.
        let mut arguments = call.arguments.iter();
        let is_long = arguments.any(|one| one.of(work.text).is_none_or(|text| text.contains('\n')));
        match call.receiver {
            CalledOnType::IsNot => Some(None),
            CalledOnType::Is(way) if call.by_macro.is_none() && !is_long => Some(Some(way)),
            CalledOnType::Is(_) | CalledOnType::Unknown => None,
        }
    }
}

/// Code of documentation as it is compiled, with blanks for everything else: each byte keeps its place. `None` where its
/// lines begin with something else than `///` or `//!`.
fn blanked(text: &str, span: ByteSpan) -> Option<String> {
    let mut code = String::new();
    for (at, line) in span.of(text)?.split_inclusive('\n').enumerate() {
        let indent = line.len() - line.trim_start().len();
        let marked = line.get(indent..).unwrap_or_default();
        let mark = match at {
            0 => 0,
            _ if marked.starts_with("///") || marked.starts_with("//!") => indent + 3,
            _ => return None,
        };
        let said = line.get(mark..)?;
        let hidden = hidden_part(said);
        let kept = said.get(hidden..)?;
        code.push_str(&" ".repeat(mark + hidden));
        code.push_str(kept);
    }
    Some(code)
}

/// How much of a line of code is not compiled: the mark of a hidden line, or all of an attribute of the file.
fn hidden_part(line: &str) -> usize {
    let blank = line.len() - line.trim_start().len();
    let said = line.trim();
    let end = line.trim_end_matches(['\n', '\r']).len();
    match said {
        "#" => end,
        _ if said.starts_with("#![") => end,
        _ if said.starts_with("# ") => blank + 2,
        _ if said.starts_with("##") => blank + 1,
        _ => 0,
    }
}
