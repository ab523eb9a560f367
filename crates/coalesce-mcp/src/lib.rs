//! A server of the [Model Context Protocol] on standard input and output: `audit`, `refs`, `diff`,
//! `plan`, `migrate`, `rollback` and `exists_already` as tools, each with a schema of what it takes and what it gives.
//!
//! Only the protocol is here. What a tool does is the work of [`Commands`], which the program
//! implements by its own commands, so that an agent gets the refusals that a person gets. Nothing of a
//! tree is executed, unless `migrate` is asked to verify.
//!
//! A line of the input may be anything: what cannot be understood is answered by an error of JSON-RPC,
//! and the next line is read.
//!
//! [Model Context Protocol]: https://modelcontextprotocol.io/specification/2025-06-18

mod answer;
mod input;
mod message;
mod server;
mod tools;

use coalesce_model::envelope::{Envelope, ErrorEntry};

pub use server::{Limits, serve};
pub use tools::{
    AuditArguments, DiffArguments, ExistsArguments, MigrateArguments, PlanArguments, RefsArguments,
    Request, RollbackArguments, SnippetLanguage,
};

/// Whoever does what tools ask for.
pub trait Commands: Sync {
    /// Carries out one request.
    ///
    /// # Errors
    /// What the user, or the agent, can mend.
    fn run(&self, request: &Request) -> Result<Answer, ErrorEntry>;
}

/// What came of a request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the command says.
    pub envelope: Envelope,
    /// Whether it could not do what it was asked for, and the envelope says why.
    pub failed: bool,
}
