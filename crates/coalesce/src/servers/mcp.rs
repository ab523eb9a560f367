//! Tools of the Model Context Protocol, carried out by the program's own commands.

use std::{io, path::PathBuf};

use coalesce_engine::{Wanted, existing};
use coalesce_mcp::{
    Answer, AuditArguments, Commands, ExistsArguments, Limits, MigrateArguments, PlanArguments,
    Request, SnippetLanguage, serve as serve_client,
};
use coalesce_model::{
    ContentHash, LanguageKind, TreePath,
    envelope::{self, Body, Envelope, ErrorEntry},
};

use super::carry_out;
use crate::{
    cli::{self, Command, Global},
    exit::{Exit, Failure, Outcome},
};

/// Places that a search tells, unless a call says otherwise.
const PLACES: u32 = 10;

/// Serves on standard input and output.
pub fn serve(global: &Global) -> io::Result<()> {
    let tools = Tools { global };
    serve_client(io::stdin().lock(), io::stdout(), &tools, Limits::default())
}

struct Tools<'g> {
    global: &'g Global,
}

impl Commands for Tools<'_> {
    fn run(&self, request: &Request) -> Result<Answer, ErrorEntry> {
        let command = match request {
            Request::Audit(arguments) => Command::Audit(audit(arguments)),
            Request::Refs(arguments) => Command::Refs(cli::Refs {
                name: arguments.name.clone(),
            }),
            Request::Diff(arguments) => Command::Diff(cli::Diff {
                left: arguments.left.clone(),
                right: arguments.right.clone(),
                side_by_side: false,
                unified: false,
                html: None,
            }),
            Request::Plan(arguments) => return self.plan(arguments),
            Request::Migrate(arguments) => return self.migrate(arguments),
            Request::Exists(arguments) => return self.existing(arguments),
            Request::Rollback(arguments) => Command::Rollback(cli::Rollback {
                id: arguments.id.clone(),
                yes: true,
            }),
        };
        carry_out(self.global, command).map(answered)
    }
}

fn audit(arguments: &AuditArguments) -> cli::Audit {
    cli::Audit {
        no_duplicates: arguments.no_duplicates,
        duplicates: cli::DuplicateOptions {
            include: arguments.include.clone(),
            exclude: arguments.exclude.clone(),
            ..cli::DuplicateOptions::default()
        },
        ..cli::Audit::default()
    }
}

/// What is looked for, and what it is called in the answer.
fn wanted(arguments: &ExistsArguments) -> Result<(&'static str, Wanted), Failure> {
    match (&arguments.snippet, &arguments.signature) {
        (Some(text), None) => {
            let language = arguments.language.map(|language| match language {
                SnippetLanguage::Python => LanguageKind::Python,
                SnippetLanguage::Rust => LanguageKind::Rust,
                SnippetLanguage::Kernel => LanguageKind::Kernel,
            });
            let text = text.clone();
            Ok(("snippet", Wanted::Snippet { text, language }))
        }
        (None, Some(text)) => Ok(("signature", Wanted::Signature(text.clone()))),
        _ => Err(Failure::user("name a snippet or a signature, and not both")),
    }
}

impl Tools<'_> {
    fn existing(&self, arguments: &ExistsArguments) -> Result<Answer, ErrorEntry> {
        let (kind, wanted) = wanted(arguments).map_err(|failure| failure.entry().clone())?;
        let limit = usize::try_from(arguments.limit.unwrap_or(PLACES)).unwrap_or(usize::MAX);
        let cache = !self.global.no_cache;
        let existing = existing(&self.global.root, cache, &wanted, limit);
        let existing = existing.map_err(|failure| failure.entry().clone())?;
        let body = Body::Find(envelope::Find {
            wanted: kind.to_owned(),
            existing,
        });
        let root = self.global.root.display().to_string();
        Ok(Answer {
            envelope: Envelope::new(root, envelope::Command::Find, body),
            failed: false,
        })
    }

    fn plan(&self, arguments: &PlanArguments) -> Result<Answer, ErrorEntry> {
        let named = Named::new(
            self.global,
            arguments.manifest.as_deref(),
            &arguments.manifests,
        )?;
        let command = Command::Plan(cli::Plan {
            manifests: named.manifests(arguments.rewrite_docs, arguments.allow_unread),
            out: None,
            html: None,
            require: arguments.require.map(Into::into),
            diff: false,
        });
        carry_out(self.global, command).map(answered)
    }

    fn migrate(&self, arguments: &MigrateArguments) -> Result<Answer, ErrorEntry> {
        if !arguments.apply {
            return self.would_migrate(arguments);
        }
        let named = Named::new(
            self.global,
            arguments.manifest.as_deref(),
            &arguments.manifests,
        )?;
        let command = Command::Migrate(cli::Migrate {
            manifests: named.manifests(arguments.rewrite_docs, arguments.allow_unread),
            applying: cli::ApplyOptions {
                verify: arguments.verify,
                require: arguments.require.map(Into::into),
                allow_unproven: arguments.allow_unproven,
                allow_dirty: arguments.allow_dirty,
                commits: false,
                yes: true,
            },
            ..cli::Migrate::default()
        });
        carry_out(self.global, command).map(answered)
    }

    /// What `migrate` would say before it writes anything.
    fn would_migrate(&self, arguments: &MigrateArguments) -> Result<Answer, ErrorEntry> {
        if arguments.verify {
            let failure = Failure::user("`verify` runs the project's code, and only with `apply`");
            return Err(failure.entry().clone());
        }
        let mut answer = self.plan(&PlanArguments {
            manifest: arguments.manifest.clone(),
            manifests: arguments.manifests.clone(),
            rewrite_docs: arguments.rewrite_docs,
            allow_unread: arguments.allow_unread,
            require: arguments.require,
            limit: arguments.limit,
        })?;
        if let Body::Plan(plan) = answer.envelope.body {
            answer.envelope = Envelope {
                command: envelope::Command::Migrate,
                body: Body::Migrate(envelope::Migrate {
                    plan,
                    ..envelope::Migrate::default()
                }),
                ..answer.envelope
            };
        }
        Ok(answer)
    }
}

fn answered(outcome: Outcome) -> Answer {
    Answer {
        envelope: outcome.envelope,
        failed: outcome.exit != Exit::Success,
    }
}

/// Keeps the text of a manifest in a directory of its own, as long as that.
fn keep(text: &str) -> io::Result<(tempfile::TempDir, PathBuf)> {
    let directory = tempfile::tempdir()?;
    // The journal knows a manifest by its name: one text has one, two texts have two.
    let name = format!("agent-{}.toml", ContentHash::of(text.as_bytes()));
    let path = directory.path().join(name);
    std::fs::write(&path, text)?;
    Ok((directory, path))
}

/// The manifests of a call: files of the tree, or a text in a file of its own as long as this lives.
struct Named {
    paths: Vec<PathBuf>,
    _directory: Option<tempfile::TempDir>,
}

impl Named {
    fn new(global: &Global, text: Option<&str>, paths: &[String]) -> Result<Self, ErrorEntry> {
        let inside = |path: &String| {
            let inside = TreePath::new(path).map_err(|error| {
                let failure = Failure::user(format!("no path below the root: {error}"));
                failure.entry().clone()
            })?;
            Ok(global.root.join(inside.as_str()))
        };
        let kept = text.map(keep).transpose().map_err(|error| {
            let failure = Failure::user(format!("cannot keep the manifest: {error}"));
            failure.entry().clone()
        })?;
        let (directory, text) = kept.unzip();
        let mut all = Vec::from_iter(text);
        let named = paths.iter().map(inside).collect::<Result<Vec<_>, _>>()?;
        all.extend(named);
        Ok(Self {
            paths: all,
            _directory: directory,
        })
    }

    fn manifests(&self, rewrite_docs: bool, allow_unread: bool) -> cli::Manifests {
        cli::Manifests {
            manifests: self.paths.clone(),
            docs: if rewrite_docs {
                cli::Docs::Rewrite
            } else {
                cli::Docs::Keep
            },
            allow_unread,
            ..cli::Manifests::default()
        }
    }
}
