//! The server: reads messages, answers what can be answered at once, and hands tools to a thread that
//! carries them out one after another.
//!
//! Two threads, so that a `ping` or a cancellation is heard while a tool is at work. A call that waits
//! can be cancelled; one that is under way cannot, since half of a migration is none: it is answered.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use serde_json::{Map, Value, json};

use crate::{
    Commands,
    answer::{failure, result},
    input::{Line, next_line},
    message::{Message, RpcError, response},
    tools::{Request, Revision, list},
};

/// What the server takes at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one line.
    pub line_bytes: usize,
    /// Calls that wait for their turn.
    pub waiting: usize,
    /// Bytes of stack of the thread that carries out tools.
    pub stack_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: 16 << 20,
            waiting: 64,
            stack_bytes: 64 << 20,
        }
    }
}

/// Serves one client until its input ends; calls that wait then are still answered.
///
/// # Errors
/// When the input cannot be read, or no thread can be started. A client that no longer reads its
/// answers ends the server without one.
pub fn serve(
    mut input: impl BufRead,
    output: impl Write + Send,
    commands: &dyn Commands,
    limits: Limits,
) -> io::Result<()> {
    let client = Client {
        output: Mutex::new(output),
        waiting: Mutex::default(),
    };
    thread::scope(|scope| {
        let (calls, queue) = mpsc::channel();
        let worker = thread::Builder::new()
            .name("tools".to_owned())
            .stack_size(limits.stack_bytes);
        let known = &client;
        worker.spawn_scoped(scope, move || known.carry_out(&queue, commands))?;
        let session = Session {
            client: &client,
            calls,
            limits,
            revision: None,
        };
        session.listen(&mut input)
    })
}

/// A tool that is to be carried out.
struct Call {
    id: Value,
    request: Request,
    revision: Revision,
}

/// The other side: where answers go, and which of its calls wait.
struct Client<W> {
    output: Mutex<W>,
    /// By the JSON of their ids; whether the client has lost interest.
    waiting: Mutex<BTreeMap<String, bool>>,
}

impl<W: Write> Client<W> {
    fn send(&self, message: &Value) -> io::Result<()> {
        // A line of its own: JSON has no line end inside.
        let mut line = message.to_string();
        line.push('\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(line.as_bytes())?;
        output.flush()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, bool>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry_out(&self, queue: &Receiver<Call>, commands: &dyn Commands) {
        for call in queue {
            let cancelled = self.waiting().remove(&call.id.to_string());
            if cancelled == Some(true) {
                continue;
            }
            // A mistake of ours must not end the server; the panic itself was printed.
            let outcome = catch_unwind(AssertUnwindSafe(|| answer(&call, commands)));
            let outcome = outcome.unwrap_or_else(|_| {
                let message = "the tool panicked; what it was to change may be changed in part: \
                               `coalesce recover` tells";
                Err(RpcError::Internal(message.to_owned()))
            });
            if self.send(&response(&call.id, outcome)).is_err() {
                return;
            }
        }
    }
}

fn answer(call: &Call, commands: &dyn Commands) -> Result<Value, RpcError> {
    match commands.run(&call.request) {
        Ok(answer) => result(&answer, call.request.limit(), call.revision),
        Err(error) => Ok(failure(&error, call.revision)),
    }
}

/// What has been agreed upon with the client so far.
struct Session<'c, W> {
    client: &'c Client<W>,
    calls: Sender<Call>,
    limits: Limits,
    /// Since `initialize`.
    revision: Option<Revision>,
}

impl<W: Write> Session<'_, W> {
    /// Hears lines until the input ends, or nobody reads what is answered.
    fn listen(mut self, input: &mut impl BufRead) -> io::Result<()> {
        loop {
            let heard = match next_line(input, self.limits.line_bytes)? {
                Line::End => return Ok(()),
                Line::TooLong => self.refuse_line(self.limits.line_bytes),
                Line::Text(line) => self.hear_line(&line),
            };
            if heard.is_err() {
                return Ok(());
            }
        }
    }

    fn refuse_line(&self, most: usize) -> io::Result<()> {
        let message = format!("a line of more than {most} bytes");
        let error = RpcError::InvalidRequest(message);
        self.client.send(&response(&Value::Null, Err(error)))
    }

    fn hear_line(&mut self, line: &[u8]) -> io::Result<()> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => {
                let error = RpcError::Parse(error.to_string());
                return self.client.send(&response(&Value::Null, Err(error)));
            }
        };
        match value {
            // Only this revision has several messages in a line; each gets an answer of its own.
            Value::Array(messages)
                if self.revision == Some(Revision::March2025) && !messages.is_empty() =>
            {
                messages.into_iter().try_for_each(|value| self.hear(value))
            }
            value => self.hear(value),
        }
    }

    fn hear(&mut self, value: Value) -> io::Result<()> {
        let (id, outcome) = match Message::read(value) {
            Ok(Message::Response) => return Ok(()),
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.cancel(&params);
                }
                return Ok(());
            }
            Ok(Message::Request { id, method, params }) => {
                let outcome = self.reply(&id, &method, params);
                (id, outcome)
            }
            Err((id, error)) => (id, Err(error)),
        };
        match outcome {
            Ok(None) => Ok(()),
            Ok(Some(result)) => self.client.send(&response(&id, Ok(result))),
            Err(error) => self.client.send(&response(&id, Err(error))),
        }
    }

    /// What is answered at once; `None` where a tool answers later.
    fn reply(
        &mut self,
        id: &Value,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Option<Value>, RpcError> {
        match (method, self.revision) {
            ("ping", _) => Ok(Some(json!({}))),
            ("initialize", None) => self.initialize(&params).map(Some),
            ("initialize", Some(_)) => {
                let message = "this session is initialized already";
                Err(RpcError::InvalidRequest(message.to_owned()))
            }
            ("tools/list", Some(revision)) => Ok(Some(list(revision))),
            ("tools/call", Some(revision)) => self.call(id, params, revision).map(|()| None),
            ("tools/list" | "tools/call", None) => {
                let message = "the session begins with `initialize`";
                Err(RpcError::InvalidRequest(message.to_owned()))
            }
            _ => Err(RpcError::MethodNotFound(method.to_owned())),
        }
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, RpcError> {
        let wanted = params.get("protocolVersion").and_then(Value::as_str);
        let wanted = wanted
            .ok_or_else(|| RpcError::InvalidParams("`protocolVersion` is no string".to_owned()))?;
        let revision = Revision::negotiated(wanted);
        self.revision = Some(revision);
        Ok(json!({
            "protocolVersion": revision.name(),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "coalesce", "version": env!("CARGO_PKG_VERSION") },
            "instructions": INSTRUCTIONS,
        }))
    }

    fn call(
        &self,
        id: &Value,
        mut params: Map<String, Value>,
        revision: Revision,
    ) -> Result<(), RpcError> {
        let invalid = |message: &str| Err(RpcError::InvalidParams(message.to_owned()));
        let Some(Value::String(tool)) = params.remove("name") else {
            return invalid("`name` is no string");
        };
        let arguments = match params.remove("arguments") {
            None => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments,
            Some(_) => return invalid("`arguments` is no object"),
        };
        let request = Request::read(&tool, arguments)?;
        let key = id.to_string();
        let mut waiting = self.client.waiting();
        if waiting.contains_key(&key) {
            let message = format!("a call with the id {key} is waiting already");
            return Err(RpcError::InvalidRequest(message));
        }
        if waiting.len() >= self.limits.waiting {
            return Err(RpcError::Busy(waiting.len()));
        }
        waiting.insert(key, false);
        let call = Call {
            id: id.clone(),
            request,
            revision,
        };
        let gone = |_| RpcError::Internal("nobody carries out tools any more".to_owned());
        self.calls.send(call).map_err(gone)
    }

    fn cancel(&self, params: &Map<String, Value>) {
        let id = params.get("requestId").map(ToString::to_string);
        let mut waiting = self.client.waiting();
        if let Some(cancelled) = id.and_then(|id| waiting.get_mut(&id)) {
            *cancelled = true;
        }
    }
}

const INSTRUCTIONS: &str = "\
Coalesce consolidates duplicated modules of Python packages and Rust workspaces. Ask `exists_already` before you write \
something, `audit` for \
what is wrong, `refs` and `diff` before you decide, `plan` for what a migration would change. \
`migrate` writes nothing without `apply`, and `rollback` takes a migration back byte for byte. Prefer \
it to moving code by hand: it follows the references that it finds, says what it could not prove, and \
applies that only with `allow_unproven`.";
