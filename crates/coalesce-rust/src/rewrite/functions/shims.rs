//! What stays of a method that became a function: one that warns and calls it.

use coalesce_model::{Finding, ShimRequest, Texts};

use super::{
    found::Method,
    sources::Sources,
    written::{HowTaken, WrittenFunction},
};
use crate::{
    discover::TargetKind,
    resolve::Reach,
    rewrite::{disallowed, mapping::refusal},
    shim::{Dates, SAFETY},
};

/// The shim, where one is asked for and somebody outside can name it; why there can be none.
pub(super) fn write(
    sources: &Sources<'_>,
    method: &Method<'_>,
    (written, stand_in): (&WrittenFunction, &str),
) -> Result<Option<String>, Finding> {
    let world = sources.world;
    let Some(request) = &method.change.shim else {
        return Ok(None);
    };
    let home = world[method.of].module;
    // Nobody names what is in a program, so that a shim there would be dead code.
    let public = world[world[home].krate].kind == TargetKind::Lib
        && world.definition_reach(method.of) == Some(Reach::Public)
        && matches!(method.function.vis, syn::Visibility::Public(_));
    if !public {
        return Ok(None);
    }
    let Some(arguments) = arguments(method, written) else {
        let from = &method.change.from;
        let message = format!("no shim can stand for `{from}`: one of its parameters has no name");
        return Err(refusal(method.path(world), message).at(method.span));
    };
    let (manifest, of) = (&request.manifest, &world[method.of].name);
    let mark = format!("// coalesce: item shim {manifest} {of}::{}", method.name);
    let above = attributes(method, request, sources.texts);
    let head = head(method, written, &arguments);
    let call = format!("{stand_in}({})", arguments.join(", "));
    let call = called(&method.function.sig, call);
    Ok(Some(format!("{mark}\n{above}{head} {{\n    {call}\n}}")))
}

/// The lines above it: where it went, what holds for it as for the method, and that it is deprecated.
fn attributes(method: &Method<'_>, request: &ShimRequest, texts: &dyn Texts) -> String {
    let new = &method.change.to;
    let mut text = format!("/// Moved to `{new}`.\n");
    if matches!(method.function.sig.safety, syn::Safety::Unsafe(_)) {
        text.push_str(SAFETY);
    }
    for attribute in &method.function.attrs {
        let kept = ["cfg", "must_use", "track_caller"];
        if kept.iter().any(|name| attribute.path().is_ident(name)) {
            text.push_str(&format!("{}\n", method.text(attribute)));
        }
    }
    let called = new.rsplit("::").next().unwrap_or_default();
    for lint in disallowed::lints_of(texts, |name| name == called || name == method.name) {
        text.push_str(&format!("#[allow({lint})]\n"));
    }
    let dates = Dates::of(request);
    text.push_str(&format!(
        "#[deprecated({}note = \"use `{new}`{}\")]\n",
        dates.since, dates.removal
    ));
    text
}

/// Its signature: what it only hands on is not changed.
fn head(method: &Method<'_>, written: &WrittenFunction, arguments: &[String]) -> String {
    let vis = method.text(&method.function.vis);
    let mut head = method.text(&method.function.sig).to_owned();
    if written.taken == HowTaken::Value {
        head = head.replace("(mut self", "(self");
    }
    for name in arguments {
        head = head.replace(&format!("mut {name}:"), &format!("{name}:"));
    }
    format!("{vis} {head}")
}

/// The arguments that it hands on.
fn arguments(method: &Method<'_>, written: &WrittenFunction) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    if written.taken != HowTaken::Nothing && !written.dropped {
        arguments.push("self".to_owned());
    }
    for input in &method.function.sig.inputs {
        let syn::FnArg::Typed(typed) = input else {
            continue;
        };
        match &*typed.pat {
            syn::Pat::Ident(name) if name.subpat.is_none() => {
                arguments.push(name.ident.to_string());
            }
            _ => return None,
        }
    }
    Some(arguments)
}

fn called(signature: &syn::Signature, call: String) -> String {
    let is_unsafe = matches!(signature.safety, syn::Safety::Unsafe(_));
    match (is_unsafe, signature.asyncness.is_some()) {
        (false, false) => call,
        (false, true) => format!("{call}.await"),
        (true, false) => format!("unsafe {{ {call} }}"),
        (true, true) => format!("unsafe {{ {call} }}.await"),
    }
}
