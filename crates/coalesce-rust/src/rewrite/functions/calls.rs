//! Calls by a dot, spelled as calls of a function.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Form, UnprovenKind};

use super::{
    reader::{self, DotCall},
    uses::{FileInWork, MethodPlaces, RECEIVER_MAY_ACT, UsesOfMethod, length},
    values::{CalledOnType, WayToType},
    written::HowTaken,
};
use crate::{
    lexer::{self, Token},
    rewrite::{mapping::refusal, method_calls::receivers},
};

impl MethodPlaces<'_, '_> {
    /// Calls by a dot.
    pub(super) fn dots(&self, work: &mut FileInWork<'_>, uses: &mut UsesOfMethod) {
        let Some(source) = self.sources.get(work.file) else {
            return;
        };
        // What takes no `self` is nobody's call by a dot.
        if self.written.taken == HowTaken::Nothing {
            return;
        }
        let method = (self.method.of, self.method.name.as_str());
        let calls = reader::calls(self.sources, &source, method);
        let others = self.others(work, &calls);
        for call in calls {
            if work.settled.insert(call.name) {
                self.dot(work, &call, others.contains(&call.name), uses);
            }
        }
    }

    /// Spells one call anew, or lists it, unless it is somebody else's.
    fn dot(&self, work: &FileInWork<'_>, call: &DotCall, is_others: bool, uses: &mut UsesOfMethod) {
        let name = ByteSpan::new(call.name, call.name + length(&self.method.name));
        let way = match call.receiver {
            CalledOnType::IsNot => return,
            CalledOnType::Unknown if is_others => return,
            CalledOnType::Unknown => return self.unknown(work, name, uses),
            CalledOnType::Is(way) => way,
        };
        if let Some(by) = &call.by_macro {
            let full = self.full();
            let why = format!("`{by}!` may do anything with this call of `{full}`");
            return self.doubt(work, name, UnprovenKind::MacroArgument, why, uses);
        }
        let module = self.module_at(work.file, call.name);
        let path = module.map(|module| self.path_from(module, false));
        match path {
            None => {}
            Some(Ok(path)) => self.call(work, (call, way, name), (&path, Form::Path), uses),
            Some(Err(message)) => self.refuse(work, name, message, uses),
        }
    }

    /// The calls whose receivers are somebody else's by what bounds and definitions say, references aside.
    fn others(&self, work: &FileInWork<'_>, calls: &[DotCall]) -> BTreeSet<u32> {
        let mut unknown = calls.iter();
        if !unknown.any(|call| call.receiver == CalledOnType::Unknown) {
            return BTreeSet::new();
        }
        let (world, texts) = (self.sources.world, self.sources.texts);
        let known = receivers(world, work.file, texts);
        let others = known
            .into_iter()
            .filter(|(_, of)| *of != Some(self.method.of));
        others.map(|(at, _)| at).collect()
    }

    pub(super) fn unknown(&self, work: &FileInWork<'_>, at: ByteSpan, uses: &mut UsesOfMethod) {
        let why = match self.shim {
            true => format!(
                "what this is called on is not known: if it is `{}`, it goes by the shim",
                self.full()
            ),
            false => format!(
                "what this is called on is not known: if it is `{}`, that is gone",
                self.full()
            ),
        };
        self.doubt(work, at, UnprovenKind::UnknownType, why, uses);
    }

    /// Spells a call by a dot as one of the function.
    pub(super) fn call(
        &self,
        work: &FileInWork<'_>,
        (call, way, name): (&DotCall, WayToType, ByteSpan),
        (path, form): (&str, Form),
        uses: &mut UsesOfMethod,
    ) {
        let dropped = self.written.dropped;
        if dropped && !call.is_place {
            return self.refuse(work, name, RECEIVER_MAY_ACT.to_owned(), uses);
        }
        let borrow = match (!dropped).then(|| self.borrow(way)).transpose() {
            Ok(borrow) => borrow,
            Err(why) => return self.doubt(work, name, UnprovenKind::UnknownType, why, uses),
        };
        if dropped {
            self.left_alone(work, call, name, uses);
        } else if self.written.taken == HowTaken::Mutable && self.is_read_again(work, call) {
            return self.refuse_order(work, call, name, uses);
        }
        let function = format!("{path}{}", self.generics_of(work, call));
        let between = before_arguments(work, call, form, borrow.is_some());
        self.edit_call(work, call, (function, borrow, between), uses);
        self.tell(work, name, form, uses);
    }

    /// Puts the name of the function before what is called on, and what parts that from the arguments behind.
    fn edit_call(
        &self,
        work: &FileInWork<'_>,
        call: &DotCall,
        (function, borrow, between): (String, Option<String>, String),
        uses: &mut UsesOfMethod,
    ) {
        let behind = call.open + 1;
        let Some(borrow) = borrow else {
            let head = ByteSpan::new(call.whole.start, behind);
            return self.edit(work, head, format!("{function}({between}"), uses);
        };
        let head = ByteSpan::new(call.whole.start, call.on.start);
        self.edit(work, head, format!("{function}({borrow}"), uses);
        let tail = ByteSpan::new(call.on.end, behind);
        self.edit(work, tail, between, uses);
    }

    fn refuse_order(
        &self,
        work: &FileInWork<'_>,
        call: &DotCall,
        name: ByteSpan,
        uses: &mut UsesOfMethod,
    ) {
        let root = call.root.as_deref().unwrap_or("what this is called on");
        let message = format!(
            "the arguments of this call name `{root}`, which a function would have borrowed by then"
        );
        let found = refusal(work.path.clone(), message).at(name);
        uses.refusals
            .push(found.with_help("work the arguments out before the call".to_owned()));
    }

    /// What stands before the receiver, where it becomes an argument.
    fn borrow(&self, way: WayToType) -> Result<String, String> {
        Ok(match (self.written.taken, way) {
            (HowTaken::Nothing, _) => {
                return Err("it takes nothing to be called on".to_owned());
            }
            (HowTaken::Shared, WayToType::Itself | WayToType::Pointer) => "&".to_owned(),
            (HowTaken::Shared, WayToType::References(..) | WayToType::ReferenceToPointer(_)) => {
                String::new()
            }
            (HowTaken::Mutable, WayToType::Itself | WayToType::Pointer) => "&mut ".to_owned(),
            (
                HowTaken::Mutable,
                WayToType::References(_, true) | WayToType::ReferenceToPointer(true),
            ) => String::new(),
            (HowTaken::Mutable, _) => {
                return Err(
                    "it is called on what cannot be changed, as far as its type is known"
                        .to_owned(),
                );
            }
            (HowTaken::Value, WayToType::Itself) => String::new(),
            (HowTaken::Value, WayToType::References(count, _)) => "*".repeat(count),
            (HowTaken::Value, WayToType::Pointer) => "*".to_owned(),
            (HowTaken::Value, WayToType::ReferenceToPointer(_)) => "**".to_owned(),
        })
    }

    /// Whether an argument reads what the call changes.
    fn is_read_again(&self, work: &FileInWork<'_>, call: &DotCall) -> bool {
        let text = |token: &Token| token.span.of(work.text).unwrap_or_default();
        let on = lexer::tokens(work.text, call.on);
        let first = on
            .iter()
            .position(|token| token.is_ident() && text(token) != "mut");
        let place: Vec<&str> = match (call.is_place, first) {
            (true, Some(first)) => on.iter().skip(first).map(text).collect(),
            _ => call.root.as_deref().into_iter().collect(),
        };
        call.arguments.iter().any(|span| {
            let tokens = lexer::tokens(work.text, *span);
            let said: Vec<&str> = tokens.iter().map(text).collect();
            reads_somewhere(&place, &said)
        })
    }

    /// The type arguments of a call, those of the block left to be found out.
    fn generics_of(&self, work: &FileInWork<'_>, call: &DotCall) -> String {
        let Some(said) = call.generics.and_then(|span| span.of(work.text)) else {
            return String::new();
        };
        let found = match self.written.dropped {
            true => String::new(),
            false => "_, ".repeat(self.written.carried.len()),
        };
        format!("::<{found}{said}>")
    }

    /// A variable that only this call named.
    fn left_alone(
        &self,
        work: &FileInWork<'_>,
        call: &DotCall,
        name: ByteSpan,
        uses: &mut UsesOfMethod,
    ) {
        let Some(root) = call.root.as_deref().filter(|root| *root != "self") else {
            return;
        };
        let named = work
            .tokens
            .iter()
            .filter(|token| token.span.of(work.text) == Some(root));
        if named.count() <= 2 {
            let why = format!("no other code in this file names `{root}`, texts aside");
            self.doubt(work, name, UnprovenKind::LeftUnused, why, uses);
        }
    }
}

/// What stands before the first argument of a call that is spelled anew: a comma behind what it was called on, and
/// comments that stood there.
fn before_arguments(
    work: &FileInWork<'_>,
    call: &DotCall,
    form: Form,
    is_handed_over: bool,
) -> String {
    let comma = match is_handed_over && !call.arguments.is_empty() {
        true => ", ",
        false => "",
    };
    let gap = ByteSpan::new(call.whole.end, call.name).of(work.text);
    let gap = gap.unwrap_or_default();
    // Each line of documentation begins like a comment.
    let is_document = form == Form::DocCode;
    if is_document || !(gap.contains("//") || gap.contains("/*")) {
        return comma.to_owned();
    }
    let kept = gap.trim_end().trim_end_matches('.').trim_end();
    format!(" {kept}\n{comma}")
}

/// Whether code may read a place, or what is around it, in a text with a format as well.
fn reads_somewhere(place: &[&str], said: &[&str]) -> bool {
    let Some(root) = place.first() else {
        return false;
    };
    let captures = format!("{{{root}");
    said.iter().enumerate().any(|(at, word)| {
        if word.ends_with(['"', '#']) && word.contains(&captures) {
            return true;
        }
        let before = at.checked_sub(1).and_then(|at| said.get(at));
        let begins = !matches!(before, Some(&"." | &":"));
        begins && word == root && reads(place, said.get(at..).unwrap_or_default())
    })
}

/// Whether what begins with `said` may read a place, or what is around it.
fn reads(place: &[&str], said: &[&str]) -> bool {
    let shared = place.iter().zip(said).take_while(|(a, b)| a == b).count();
    if shared == place.len() {
        return true;
    }
    // `self.by` is apart from `self.pool`; `self.len()` is not, nor is `self`.
    match place.get(shared - 1) {
        Some(&".") => said.get(shared + 1) == Some(&"("),
        _ => true,
    }
}
