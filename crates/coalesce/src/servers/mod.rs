//! The commands that serve an agent or an editor until its input ends. They print no page: standard
//! output belongs to their protocol.

#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "mcp")]
mod mcp;

#[cfg(any(feature = "lsp", feature = "mcp"))]
use {
    crate::{
        cli::{self, Command, Global},
        commands,
        exit::{Outcome, describe},
    },
    coalesce_model::envelope::ErrorEntry,
};

use crate::cli::Invocation;

/// Serves, where the command is a server; `None` where it is none.
pub fn run(invocation: &Invocation) -> Option<std::io::Result<()>> {
    match &invocation.command {
        #[cfg(feature = "lsp")]
        Command::Lsp(_) => Some(lsp::serve(&invocation.global)),
        #[cfg(feature = "mcp")]
        Command::Mcp(_) => Some(mcp::serve(&invocation.global)),
        _ => None,
    }
}

/// Carries out a command as the program does, with nobody at a terminal.
#[cfg(any(feature = "lsp", feature = "mcp"))]
fn carry_out(global: &Global, command: Command) -> Result<Outcome, ErrorEntry> {
    let global = Global {
        quiet: true,
        format: cli::Format::Json,
        ends: false,
        ..global.clone()
    };
    let invocation = Invocation { global, command };
    commands::run(&invocation).map_err(|error| describe(&error))
}
