//! `help`, `completions` and `man`: what the program tells of itself, as plain text.

use clap::CommandFactory as _;
use coalesce_report::reference;
use serde_json::Value;

use crate::{
    cli::{self, Format, Invocation},
    exit::Failure,
};

/// The text of a command that tells of the program; `None` of the others.
///
/// # Errors
/// When there is no such topic or command.
#[must_use]
pub fn text(invocation: &Invocation) -> Option<Result<String, Failure>> {
    let (told, is_json) = match &invocation.command {
        cli::Command::Help(arguments) => (help(arguments), arguments.schema),
        cli::Command::Completions(arguments) => (Ok(completions(arguments.shell)), false),
        cli::Command::Man(arguments) => (manual(arguments), false),
        _ => return None,
    };
    let format = invocation.global.format;
    let fits = format == Format::Human || (is_json && format == Format::Json);
    Some(if fits { told } else { Err(only_text()) })
}

/// A program that asks for JSON would read the text as a mistake of its own.
fn only_text() -> Failure {
    let failure = Failure::user("this command tells text alone: it has no other `--format`");
    failure.hint("`coalesce help manifest --schema` and `coalesce help settings --schema` are JSON")
}

/// A TOML file that the program reads: its schema, and an example of each table.
struct Topic {
    schema: Value,
    examples: &'static [(&'static str, &'static str)],
}

impl Topic {
    fn named(name: &str) -> Option<Self> {
        match name {
            "manifest" => Some(Self {
                schema: coalesce_model::manifest::schema().to_value(),
                examples: coalesce_model::manifest::EXAMPLES,
            }),
            "settings" => Some(Self {
                schema: coalesce_tree::settings_schema().to_value(),
                examples: coalesce_tree::SETTINGS_EXAMPLES,
            }),
            _ => None,
        }
    }
}

/// The JSON schema of a manifest, as text.
///
/// # Panics
/// Never: a schema is JSON.
#[must_use]
pub fn manifest_schema() -> String {
    schema_text(&coalesce_model::manifest::schema().to_value())
}

/// The JSON schema of `coalesce.toml`, as text.
#[must_use]
pub fn settings_schema() -> String {
    schema_text(&coalesce_tree::settings_schema().to_value())
}

fn schema_text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The pages of the documentation about both files.
#[must_use]
pub fn manifest_page() -> String {
    let topic = |name| Topic::named(name).expect("invariant: both are topics");
    let page = |topic: Topic| reference::markdown(&topic.schema, topic.examples);
    format!(
        "# Manifests\n\n\
         <!-- Written by `cargo xtask codegen` from the types that read the file. -->\n\n\
         A manifest is a TOML file in `migrations/`; its name without `.toml` is its id. \
         `coalesce init` writes one to begin with, `coalesce help manifest` prints this page, and \
         editors that know TOML complete and check it by `#:schema manifest.schema.json` in its first \
         line (`coalesce help manifest --schema` prints that schema).\n\n{}\n\
         # coalesce.toml\n\n\
         The file stands in the root of the tree and may be left out; so may everything in it. \
         `coalesce help settings` prints this.\n\n{}",
        page(topic("manifest")),
        page(topic("settings"))
    )
}

/// The page of the documentation about everything that is found.
#[must_use]
pub fn rules_page() -> String {
    coalesce_report::explain::document()
}

fn help(arguments: &cli::Help) -> Result<String, Failure> {
    let mut program = Invocation::command();
    let Some(name) = &arguments.topic else {
        return Ok(program.render_long_help().to_string());
    };
    if let Some(topic) = Topic::named(name) {
        return Ok(if arguments.schema {
            schema_text(&topic.schema)
        } else {
            reference::plain(&topic.schema, topic.examples)
        });
    }
    if arguments.schema {
        let failure = Failure::user(format!("`{name}` has no schema"));
        return Err(failure.hint("`manifest` and `settings` have one"));
    }
    program.build();
    match program.find_subcommand_mut(name) {
        Some(command) => Ok(command.render_long_help().to_string()),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Failure {
    let program = Invocation::command();
    let commands = program.get_subcommands().map(clap::Command::get_name);
    let topics = commands.chain(["manifest", "settings"]);
    let failure = Failure::user(format!("there is no help on `{name}`"));
    let lists = "`coalesce help` lists the commands; `manifest` and `settings` are files";
    let near = coalesce_model::manifest::did_you_mean(name, topics);
    failure.hint(near.unwrap_or_else(|| lists.to_owned()))
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Invocation::command(), "coalesce", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The page of the program, or of one of its commands.
fn manual(arguments: &cli::Man) -> Result<String, Failure> {
    let mut program = Invocation::command();
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            // The page names the version of the program, which only the program itself has.
            Some(command) => command.clone().version(env!("COALESCE_VERSION")),
            None => return Err(unknown(name)),
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Failure::internal(error.to_string()))?;
    Ok(unfilled(&String::from_utf8_lossy(&text)))
}

/// A manual page with the lines of its examples as they are: what stands behind the options is laid out already.
fn unfilled(page: &str) -> String {
    const EXTRA: &str = ".SH EXTRA\n";
    let Some((before, examples)) = page.split_once(EXTRA) else {
        return page.to_owned();
    };
    let end = examples.find("\n.SH ").map_or(examples.len(), |at| at + 1);
    let (examples, after) = examples.split_at(end);
    format!("{before}.SH NOTES\n.nf\n{examples}.fi\n{after}")
}

#[cfg(test)]
mod tests {
    use coalesce_model::manifest::Manifest;

    use super::*;

    #[test]
    fn every_table_of_a_manifest_has_an_example_that_is_read() {
        for name in ["manifest", "settings"] {
            let topic = Topic::named(name).unwrap();
            for table in reference::tables(&topic.schema) {
                let example = topic.examples.iter().find(|(of, _)| *of == table.name);
                let (_, example) = example.unwrap_or_else(|| panic!("{name}: {}", table.name));
                assert!(example.contains(&table.heading()), "{example}");
                assert!(!table.about.is_empty(), "{name}: {}", table.name);
                for key in &table.keys {
                    let whole = !key.about.is_empty() && !key.value.is_empty();
                    assert!(whole, "{name}: {}.{}", table.name, key.name);
                }
            }
        }
        // The head is needed everywhere; two entries for one name would contradict each other.
        for (name, example) in coalesce_model::manifest::EXAMPLES.iter().skip(1) {
            let text = format!("schema = 1\n{example}");
            let read = Manifest::parse("m/0001-x.toml", &text);
            assert!(read.is_ok(), "{name}: {:?}", read.err());
        }
    }

    #[test]
    fn completions_and_manual_pages_name_the_commands() {
        for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
            let invocation = Invocation::of(["completions", shell]).unwrap();
            let told = text(&invocation).unwrap().unwrap();
            assert!(told.contains("rollback"), "{shell}");
        }
        for (line, held) in [("man", "coalesce"), ("man migrate", "emit\\-tests")] {
            let invocation = Invocation::of(line.split(' ')).unwrap();
            let told = text(&invocation).unwrap().unwrap();
            assert!(told.contains(held), "{told}");
            let laid_out = told.contains(".SH NOTES\n.nf\n") && told.contains("\n.fi\n.SH VERSION");
            assert!(laid_out, "{told}");
        }
        for (line, is_told) in [
            ("--format json help manifest", false),
            ("--format json help manifest --schema", true),
            ("--format sarif man", false),
            ("--format github completions bash", false),
        ] {
            let invocation = Invocation::of(line.split(' ')).unwrap();
            assert_eq!(text(&invocation).unwrap().is_ok(), is_told, "{line}");
        }
        let wrong = Invocation::of(["help", "manifst"]).unwrap();
        let failure = text(&wrong).unwrap().unwrap_err();
        assert_eq!(failure.entry().hints, ["did you mean `manifest`?"]);
    }
}
