//! `move`, `replace`, `merge` and `remove`: a manifest of one entry that nobody has to write.

use coalesce_engine::{MigrationPlan, PlanOptions, Session, checks_of, plan};
use coalesce_model::{
    Uses,
    envelope::{Body, Command, EntryMigration, Grade},
    manifest::{EntryText, Manifest, Verb},
};

use coalesce_report::typed;

use super::{
    Page, applying::Application, label, manifests as all_manifests, open, open_store,
    some_manifests, spoken::Spoken,
};
use crate::{
    cli::{self, Docs, EntryOptions},
    exit::{Exit, Failure, Outcome},
    named_files,
};

/// A command of one entry.
pub struct EntryCommand<'a> {
    /// Which.
    pub name: Command,
    /// What it stands for.
    pub entry: EntryText,
    /// What becomes of the plan.
    pub options: &'a EntryOptions,
}

impl<'a> EntryCommand<'a> {
    /// The command, where it is one of these.
    #[must_use]
    pub fn of(command: &'a cli::Command) -> Option<Self> {
        let (entry, options) = match command {
            cli::Command::Move(arguments) => (arguments.entry(Verb::Move), &arguments.options),
            cli::Command::Replace(arguments) => {
                (arguments.entry(Verb::Replace), &arguments.options)
            }
            cli::Command::Merge(arguments) => (arguments.entry(), &arguments.options),
            cli::Command::Remove(arguments) => (arguments.entry(), &arguments.options),
            _ => return None,
        };
        Some(Self {
            name: command.name()?,
            entry,
            options,
        })
    }
}

/// Runs a command of one entry.
///
/// # Errors
/// When the entry does not fit the tree, the plan is refused, or the tree cannot be written; the tree
/// is then as it was.
pub fn run(global: &cli::Global, command: &EntryCommand<'_>) -> anyhow::Result<Outcome> {
    let options = command.options;
    if let Some(path) = &options.save {
        named_files::refuse_existing(path)?;
    }
    let store = open_store(global)?;
    let text = command.entry.manifest();
    let spoken = Spoken(&command.entry);
    let mut planned = PlannedEntry::new(global, command, &text, &spoken)?;
    let mut page = Page::new(&planned.session, global);
    let application = Application {
        session: &planned.session,
        store: &store,
        options: &options.applying,
        checks: &checks_of(&planned.manifests),
    };
    let worked = &mut planned.worked;
    let carried = application.carry_out_if(options.apply, worked, &mut page.locator)?;
    let findings: Vec<_> = carried
        .findings
        .into_iter()
        .map(|finding| spoken.finding(finding))
        .collect();
    // Where the command cannot do its work, the manifest goes again.
    let saved = planned.saved.filter(|_| carried.exit != Exit::Failed);
    let manifest_saved = saved.and_then(|saved| {
        saved.keep();
        Some(options.save.as_ref()?.display().to_string())
    });
    let open_still = carried.exit == Exit::Success && !carried.body.applied;
    let next = (open_still && !worked.nothing_to_do()).then(|| {
        let proven = carried.body.plan.answer.grade != Some(Grade::NotProven);
        next(global, command, manifest_saved.as_deref(), proven)
    });
    let body = Body::Entry(EntryMigration {
        manifest: text,
        manifest_saved,
        migrate: carried.body,
        next,
    });
    Ok(page.outcome(command.name, &findings, body, carried.exit))
}

/// The plan of an entry, and the manifest that it was made from.
struct PlannedEntry {
    session: Session,
    manifests: Vec<Manifest>,
    worked: MigrationPlan,
    /// The manifest's file, where it is to be kept.
    saved: Option<named_files::Written>,
}

impl PlannedEntry {
    fn new(
        global: &cli::Global,
        command: &EntryCommand<'_>,
        text: &str,
        spoken: &Spoken<'_>,
    ) -> anyhow::Result<Self> {
        let planning = PlanOptions {
            prose: command.options.docs == Docs::Rewrite,
            ..PlanOptions::default()
        };
        let session = open(global)?;
        let manifests = unsaved(&session, command, text).map_err(|why| spoken.failure(&why))?;
        let worked = plan(&session, &manifests, planning).map_err(|why| spoken.failure(&why))?;
        let Some(path) = &command.options.save else {
            return Ok(Self {
                session,
                manifests,
                worked,
                saved: None,
            });
        };
        // Names that fit nothing were refused above.
        let saved = named_files::write_for_now(&global.root, path, text)?;
        // The file may be one of the tree, which then says what was applied of it.
        let session = open(global)?;
        let manifests = some_manifests(&session, std::slice::from_ref(path))?;
        fits_others(&session, &manifests)?;
        let worked = plan(&session, &manifests, planning)?;
        Ok(Self {
            session,
            manifests,
            worked,
            saved: Some(saved),
        })
    }
}

/// Refuses a manifest that does not fit the others of the tree, which are read along with it from now on, unless those do
/// not fit without it, either.
fn fits_others(session: &Session, saved: &[Manifest]) -> anyhow::Result<()> {
    let all = all_manifests(session, &[])?;
    let is_saved = |one: &&Manifest| {
        saved
            .iter()
            .any(|own| own.id == one.id && own.text == one.text)
    };
    let others: Vec<Manifest> = all.iter().filter(|one| !is_saved(one)).cloned().collect();
    if others.len() == all.len() {
        // It stands elsewhere, and is read where somebody names it.
        return Ok(());
    }
    let index = session.index();
    let check = |manifests: &[Manifest]| coalesce_plan::check(manifests, &index, &session.tree);
    match check(&all) {
        Err(errors) if check(&others).is_ok() => {
            Err(coalesce_engine::misfit(&errors, &all, session).into())
        }
        _ => Ok(()),
    }
}

/// The manifest without a file; messages call it by the command.
fn unsaved(
    session: &Session,
    command: &EntryCommand<'_>,
    text: &str,
) -> Result<Vec<Manifest>, Failure> {
    let label = format!("{}.toml", command.entry.id());
    coalesce_engine::manifests(session, vec![(label, text.to_owned())])
}

/// What to type to have the plan applied. One that is not proven is refused, unless it is tried first.
fn next(
    global: &cli::Global,
    command: &EntryCommand<'_>,
    saved: Option<&str>,
    proven: bool,
) -> String {
    let mut words = match saved {
        Some(path) => vec!["migrate".to_owned(), path.to_owned()],
        None => {
            let mut words = words(&command.entry);
            words.push("--apply".to_owned());
            words
        }
    };
    if command.options.docs == Docs::Rewrite {
        words.push("--docs=rewrite".to_owned());
    }
    if !proven {
        words.push("--verify".to_owned());
    }
    typed::command(&label(global), &words)
}

/// The words of a command line that stands for an entry.
pub fn words(entry: &EntryText) -> Vec<String> {
    let mut words = vec![entry.verb.as_str().to_owned(), entry.from.clone()];
    words.extend(entry.to.clone());
    let mut option = |name: &str, value: Option<&String>| {
        words.extend(
            value
                .into_iter()
                .flat_map(|value| [name.to_owned(), value.clone()]),
        );
    };
    option("--kind", entry.kind.as_ref());
    for (name, pairs) in [("--rename", &entry.rename), ("--decide", &entry.decide)] {
        for (left, right) in pairs {
            option(name, Some(&format!("{left}={right}")));
        }
    }
    let uses = (entry.uses != Uses::default()).then(|| entry.uses.as_str().to_owned());
    option("--uses", uses.as_ref());
    option("--since", entry.since.as_ref());
    option("--remove-in", entry.remove_in.as_ref());
    if entry.shim {
        words.push("--shim".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_an_entry_are_read_back_as_the_entry() {
        for line in [
            "move a.b a.c --kind item --since 1 --remove-in 2 --shim",
            "move a.b a.c --kind module --rename x=y --uses alias",
            "replace a::b a::c --rename x=y --rename p=q",
            "merge a.b a.c --rename x=y --decide l=keep-into",
            "remove a.b",
        ] {
            let typed = format!("{line} --apply");
            let invocation = cli::Invocation::of(typed.split(' ')).unwrap();
            let command = EntryCommand::of(&invocation.command).unwrap();
            assert_eq!(
                next(&invocation.global, &command, None, true),
                format!("coalesce {typed}")
            );
            assert_eq!(
                next(&invocation.global, &command, None, false),
                format!("coalesce {typed} --verify")
            );
        }
    }
}
