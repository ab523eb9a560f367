//! The language server, with the program's own `check`.

use std::{io, path::Path};

use coalesce_lsp::{Checker, serve_stdio};
use coalesce_model::envelope::{Envelope, ErrorEntry};

use super::carry_out;
use crate::cli::{self, Command, Global};

/// Serves on standard input and output.
pub fn serve(global: &Global) -> io::Result<()> {
    let root = std::path::absolute(&global.root)?;
    serve_stdio(root, &Check { global }).map_err(io::Error::other)
}

struct Check<'g> {
    global: &'g Global,
}

impl Checker for Check<'_> {
    fn check(&self, root: &Path) -> Result<Envelope, ErrorEntry> {
        let global = Global {
            root: root.to_owned(),
            ..self.global.clone()
        };
        let command = Command::Check(cli::Check::default());
        carry_out(&global, command).map(|outcome| outcome.envelope)
    }
}
