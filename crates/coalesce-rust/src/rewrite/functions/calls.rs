//! Calls by a dot, spelled as calls of a function.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Form, UnprovenKind};

use super::{
    reader::{self, DotCall},
    uses::{FileInWork, MethodPlaces, UsesOfMethod, length},
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
        let world = self.sources.world;
        // What takes no `self` is nobody's call by a dot.
        if self.written.taken == HowTaken::Nothing {
            return;
        }
        let method = (self.method.of, self.method.name.as_str());
        let calls = reader::calls(self.sources, &source, method);
        let others = self.others(work, &calls);
        for call in calls {
            if !work.settled.insert(call.name) {
                continue;
            }
            let name = ByteSpan::new(call.name, call.name + length(&self.method.name));
            let way = match call.receiver {
                CalledOnType::IsNot => continue,
                CalledOnType::Unknown if others.contains(&call.name) => continue,
                CalledOnType::Unknown => {
                    self.unknown(work, name, uses);
                    continue;
                }
                CalledOnType::Is(way) => way,
            };
            if let Some(by) = &call.by_macro {
                let why = format!(
                    "`{by}!` may do anything with this call of `{}`",
                    self.full()
                );
                self.doubt(work, name, UnprovenKind::MacroArgument, why, uses);
                continue;
            }
            let module = world
                .body_around(work.file, call.name)
                .map(|body| world[body].module);
            let Some(module) = module else { continue };
            let form = Form::Path;
            match self.path_from(module, false) {
                Ok(path) => self.call(work, (&call, way, name), (&path, form), uses),
                Err(message) => self.refuse(work, name, message, uses),
            }
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
        let borrow = if self.written.dropped {
            if !call.is_place {
                let message =
                    "what it is called on goes, and working it out may do something".to_owned();
                return self.refuse(work, name, message, uses);
            }
            self.left_alone(work, call, name, uses);
            None
        } else {
            match self.borrow(way) {
                Ok(borrow) => Some(borrow),
                Err(why) => return self.doubt(work, name, UnprovenKind::UnknownType, why, uses),
            }
        };
        if self.written.taken == HowTaken::Mutable
            && !self.written.dropped
            && self.is_read_again(work, call)
        {
            return self.refuse_order(work, call, name, uses);
        }
        let generics = self.generics_of(work, call);
        let after = ByteSpan::new(call.whole.end, call.open + 1);
        let gap = ByteSpan::new(call.whole.end, name.start)
            .of(work.text)
            .unwrap_or_default();
        // Each line of documentation begins like a comment.
        let is_document = form == Form::DocCode;
        let comment = !is_document && (gap.contains("//") || gap.contains("/*"));
        let mut comma = match (&borrow, call.arguments.is_empty()) {
            (None, _) | (Some(_), true) => String::new(),
            (Some(_), false) => ", ".to_owned(),
        };
        if comment {
            let kept = gap.trim_end().trim_end_matches('.').trim_end();
            comma = format!(" {kept}\n{comma}");
        }
        match borrow {
            Some(borrow) => {
                let head = ByteSpan::new(call.whole.start, call.on.start);
                self.edit(work, head, format!("{path}{generics}({borrow}"), uses);
                let tail = ByteSpan::new(call.on.end, after.end);
                self.edit(work, tail, comma, uses);
            }
            None => {
                let head = ByteSpan::new(call.whole.start, after.end);
                self.edit(work, head, format!("{path}{generics}({comma}"), uses);
            }
        }
        self.tell(work, name, form, uses);
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
        let Some(root) = place.first().copied() else {
            return false;
        };
        call.arguments.iter().any(|span| {
            let tokens = lexer::tokens(work.text, *span);
            let captures = format!("{{{root}");
            tokens.iter().enumerate().any(|(at, token)| {
                let said = text(token);
                if said.ends_with(['"', '#']) && said.contains(&captures) {
                    return true;
                }
                let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                let begins = !before.is_some_and(|before| before.is(b'.') || before.is(b':'));
                begins && said == root && {
                    let rest: Vec<&str> = tokens.iter().skip(at).map(text).collect();
                    reads(&place, &rest)
                }
            })
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
