//! The server: what an editor says, in turn, and what is answered.
//!
//! One thread, so that no answer is about a tree that another one is changing. Findings are looked for
//! when nothing else waits.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use coalesce_model::{
    Severity, TreePath,
    envelope::{Envelope, FindingEntry},
};
use lsp_server::{
    Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response,
};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionOrCommand, CodeActionParams,
    CodeActionProviderCapability, Command, Diagnostic, DiagnosticSeverity,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    ExecuteCommandOptions, ExecuteCommandParams, FileOperationFilter, FileOperationPattern,
    FileOperationRegistrationOptions, InitializeParams, Location, LogMessageParams,
    MessageActionItem, MessageType, NumberOrString, OneOf, Position, PositionEncodingKind,
    PublishDiagnosticsParams, ReferenceParams, RenameFilesParams, ResourceOperationKind,
    ServerCapabilities, ShowMessageParams, ShowMessageRequestParams,
    TextDocumentContentChangeEvent, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
    WorkspaceFileOperationsServerCapabilities, WorkspaceServerCapabilities,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    Checker,
    documents::{Document, Documents},
    lines::{Encoding, Lines},
    moves::{self, Done, MOVE, MOVE_HERE, MoveArguments, ROLLBACK, Refused, RollbackArguments},
    names::{language_of, named_at, word_at},
    rename::{self, Abilities},
    transport::connect_to_stdio,
    workspace::{Workspace, file_path},
};

/// Why a server ends before its client wants it to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client does not keep to the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// What the client says first cannot be understood.
    #[error("the client's `initialize` cannot be read: {0}")]
    Initialize(#[from] serde_json::Error),
    /// The client has gone away.
    #[error("the client has gone away")]
    Gone,
    /// Standard input or output failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Serves an editor on standard input and output. The tree is the first folder of the workspace, or
/// `root` where the client has none.
///
/// # Errors
/// When the client does not keep to the protocol, or goes away without a word.
pub fn serve_stdio(root: PathBuf, checker: &dyn Checker) -> Result<(), ServeError> {
    let (connection, threads) = connect_to_stdio();
    let served = serve(&connection, root, checker);
    // The thread that writes ends when nobody can send any more.
    drop(connection);
    served?;
    threads.join()?;
    Ok(())
}

/// Serves whoever is at the other end.
///
/// # Errors
/// As [`serve_stdio`].
pub fn serve(
    connection: &Connection,
    root: PathBuf,
    checker: &dyn Checker,
) -> Result<(), ServeError> {
    let (id, params) = match connection.initialize_start() {
        // Who goes away without a word has asked for nothing.
        Err(error) if error.channel_is_disconnected() => return Ok(()),
        begun => begun?,
    };
    let params: InitializeParams = serde_json::from_value(params)?;
    let abilities = abilities(&params);
    let answer = json!({
        "capabilities": capabilities(abilities.encoding),
        "serverInfo": { "name": "coalesce", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer)?;
    let mut server = Server {
        connection,
        checker,
        workspace: Workspace::new(folder(&params).unwrap_or(root)),
        abilities,
        documents: Documents::default(),
        published: BTreeSet::new(),
        questions: BTreeMap::new(),
        asked: 0,
        stale: true,
    };
    server.listen()
}

/// The folder that the editor has open. Of several, the first: a tree has one root.
fn folder(params: &InitializeParams) -> Option<PathBuf> {
    let folders = params.workspace_folders.as_deref().unwrap_or_default();
    let first = folders.first().map(|folder| &folder.uri);
    #[expect(deprecated, reason = "older clients say nothing else")]
    let uri = first.or(params.root_uri.as_ref())?;
    file_path(uri.as_str())
}

fn abilities(params: &InitializeParams) -> Abilities {
    let general = params.capabilities.general.as_ref();
    let encodings = general.and_then(|general| general.position_encodings.as_deref());
    let bytes = encodings
        .unwrap_or_default()
        .contains(&PositionEncodingKind::UTF8);
    let workspace = params.capabilities.workspace.as_ref();
    let edit = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
    let versions = edit.and_then(|edit| edit.document_changes).unwrap_or(false);
    let operations = edit.and_then(|edit| edit.resource_operations.as_deref());
    let creates = operations.unwrap_or_default();
    Abilities {
        encoding: if bytes {
            Encoding::Utf8
        } else {
            Encoding::Utf16
        },
        versions,
        creates: versions && creates.contains(&ResourceOperationKind::Create),
    }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::FULL),
                save: Some(TextDocumentSyncSaveOptions::Supported(true)),
                ..TextDocumentSyncOptions::default()
            },
        )),
        references_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::REFACTOR]),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: [MOVE, MOVE_HERE, ROLLBACK].map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(hearing_of_renames()),
        ..ServerCapabilities::default()
    }
}

/// To be asked before files and folders are renamed. A folder has no ending of its own, so all are told.
fn hearing_of_renames() -> WorkspaceServerCapabilities {
    let everything = FileOperationFilter {
        scheme: Some("file".to_owned()),
        pattern: FileOperationPattern {
            glob: "**/*".to_owned(),
            matches: None,
            options: None,
        },
    };
    WorkspaceServerCapabilities {
        workspace_folders: None,
        file_operations: Some(WorkspaceFileOperationsServerCapabilities {
            will_rename: Some(FileOperationRegistrationOptions {
                filters: vec![everything],
            }),
            ..WorkspaceFileOperationsServerCapabilities::default()
        }),
    }
}

struct Server<'c> {
    connection: &'c Connection,
    checker: &'c dyn Checker,
    workspace: Workspace,
    abilities: Abilities,
    documents: Documents,
    /// Files whose findings the client has been told.
    published: BTreeSet<TreePath>,
    /// Moves whose target the user has been asked for: the old name, by the question.
    questions: BTreeMap<RequestId, String>,
    /// How many questions there were.
    asked: i32,
    /// Whether findings have to be looked for again.
    stale: bool,
}

type Sent = Result<(), ServeError>;

impl Server<'_> {
    fn listen(&mut self) -> Sent {
        loop {
            if self.stale && self.connection.receiver.is_empty() {
                self.stale = false;
                self.look_for_findings()?;
            }
            let message = self.connection.receiver.recv();
            match message.map_err(|_| ServeError::Gone)? {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.reply(request)?;
                }
                Message::Notification(notification) => self.hear(notification)?,
                Message::Response(response) => self.chosen(response)?,
            }
        }
    }

    fn send(&self, message: impl Into<Message>) -> Sent {
        let sent = self.connection.sender.send(message.into());
        sent.map_err(|_| ServeError::Gone)
    }

    fn notify(&self, method: &str, params: impl Serialize) -> Sent {
        self.send(Notification::new(method.to_owned(), params))
    }

    fn show(&self, typ: MessageType, message: String) -> Sent {
        self.notify("window/showMessage", ShowMessageParams { typ, message })
    }

    fn reply(&mut self, request: Request) -> Sent {
        let Request { id, method, params } = request;
        let outcome = match method.as_str() {
            "textDocument/references" => read(params).and_then(|params| self.references(&params)),
            "textDocument/codeAction" => read(params).and_then(|params| self.actions(&params)),
            "workspace/willRenameFiles" => {
                let followed = read(params).and_then(|params| self.will_rename(&params));
                let edit = self.tell_of_rename(followed)?;
                return self.send(Response::new_ok(id, edit));
            }
            "workspace/executeCommand" => read(params).and_then(|params| self.execute(params)),
            _ => {
                let message = format!("there is no method `{method}`");
                let code = ErrorCode::MethodNotFound as i32;
                return self.send(Response::new_err(id, code, message));
            }
        };
        match outcome {
            Ok(result) => self.send(Response::new_ok(id, result)),
            Err(refused) => self.send(Response::new_err(id, refused.code(), refused.to_string())),
        }
    }

    /// The edits that go with renames; the user is shown what is against them.
    fn tell_of_rename(
        &self,
        followed: Result<(Value, Option<String>), Refused>,
    ) -> Result<Value, ServeError> {
        let (edit, message) = match followed {
            // The editor renames whatever is answered: an error box would say less.
            Err(refused) => {
                let message = format!("no reference follows the rename: {refused}");
                (Value::Null, Some(message))
            }
            Ok((edit, unproven)) => {
                let read_them = |places| format!("{places}; read them before you keep the edits");
                (edit, unproven.map(read_them))
            }
        };
        if let Some(message) = message {
            self.show(MessageType::WARNING, message)?;
        }
        Ok(edit)
    }

    fn hear(&mut self, notification: Notification) -> Sent {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(DidOpenTextDocumentParams { text_document }) = read(params) {
                    self.set(Document {
                        version: text_document.version,
                        text: text_document.text,
                        uri: text_document.uri,
                    });
                }
            }
            "textDocument/didChange" => {
                if let Ok(change) = read(params) {
                    self.change(change);
                }
            }
            "textDocument/didClose" => {
                if let Ok(DidCloseTextDocumentParams { text_document }) = read(params)
                    && let Some(path) = self.workspace.path_of(text_document.uri.as_str())
                {
                    self.documents.close(&path);
                }
            }
            "textDocument/didSave"
            | "workspace/didChangeWatchedFiles"
            | "workspace/didRenameFiles" => self.stale = true,
            _ => {}
        }
        Ok(())
    }

    /// A buffer has another text: the last one that the client tells.
    fn change(&mut self, change: DidChangeTextDocumentParams) {
        let last = change.content_changes.into_iter().next_back();
        if let Some(TextDocumentContentChangeEvent { text, .. }) = last {
            self.set(Document {
                version: change.text_document.version,
                text,
                uri: change.text_document.uri,
            });
        }
    }

    fn set(&mut self, document: Document) {
        if let Some(path) = self.workspace.path_of(document.uri.as_str()) {
            self.documents.set(path, document);
        }
    }

    /// A file of the tree with its text, which must be the saved one: everything is about that.
    fn saved(&self, uri: &Uri) -> Result<(TreePath, String), Refused> {
        let outside = || Refused::Invalid(format!("{} is no file of the tree", uri.as_str()));
        let path = self.workspace.path_of(uri.as_str()).ok_or_else(outside)?;
        // Read once: what is compared with the buffer is what is answered about.
        let text = self.workspace.saved_text(&path);
        if let Some(document) = self.documents.get(&path)
            && !document.is_saved_as(text.as_deref())
        {
            return Err(Refused::Impossible(moves::save_or_read(path.as_str())));
        }
        let unread = || Refused::Impossible(format!("{path} cannot be read"));
        Ok((path.clone(), text.ok_or_else(unread)?))
    }

    fn offset(&self, text: &str, position: Position) -> Result<usize, Refused> {
        let lines = Lines::new(text, self.abilities.encoding);
        let beyond = || Refused::Invalid("the text has no such line".to_owned());
        lines.offset(position).ok_or_else(beyond)
    }

    fn references(&self, params: &ReferenceParams) -> Result<Value, Refused> {
        let at = &params.text_document_position;
        let (path, text) = self.saved(&at.text_document.uri)?;
        let offset = self.offset(&text, at.position)?;
        let session = self.workspace.read()?;
        let Some(named) = named_at(&session, &path, &text, offset) else {
            return Ok(Value::Null);
        };
        let mut locations = Vec::new();
        let mut texts: BTreeMap<TreePath, Option<String>> = BTreeMap::new();
        for reference in &named.references {
            let text = texts
                .entry(reference.path.clone())
                .or_insert_with(|| self.workspace.saved_text(&reference.path));
            let uri = self.documents.uri(&self.workspace, &reference.path);
            if let (Some(text), Some(uri)) = (text, uri) {
                let lines = Lines::new(text, self.abilities.encoding);
                let span = reference.span.start as usize..reference.span.end as usize;
                locations.push(Location::new(uri, lines.range(span)));
            }
        }
        Ok(json!(locations))
    }

    /// What can be done at a place. Asked at every move of the cursor, so nothing is resolved: whether
    /// the word can move is found out when somebody wants it.
    fn actions(&self, params: &CodeActionParams) -> Result<Value, Refused> {
        let only = params.context.only.as_deref();
        let is_wanted = only.is_none_or(|only| {
            let mut kinds = only.iter();
            kinds.any(|kind| MOVE_ACTION.starts_with(kind.as_str()))
        });
        let uri = &params.text_document.uri;
        let path = self.workspace.path_of(uri.as_str());
        let path = path.filter(|path| is_wanted && language_of(path).is_some());
        let Some(document) = path.and_then(|path| self.documents.get(&path)) else {
            return Ok(json!([]));
        };
        let offset = self.offset(&document.text, params.range.start)?;
        let word = word_at(&document.text, offset);
        let at = TextDocumentPositionParams::new(params.text_document.clone(), params.range.start);
        let action = word.map(|word| move_action(word, &at));
        Ok(json!(action.into_iter().collect::<Vec<_>>()))
    }

    fn will_rename(&self, params: &RenameFilesParams) -> Result<(Value, Option<String>), Refused> {
        let renames = rename::renames_of(&self.workspace, &params.files);
        if renames.is_empty() {
            return Ok((Value::Null, None));
        }
        let follow = rename::follow(&self.workspace, &self.documents, &renames, self.abilities)?;
        Ok(match follow {
            Some(follow) => (json!(follow.edit), follow.unproven),
            None => (Value::Null, None),
        })
    }

    fn execute(&mut self, params: ExecuteCommandParams) -> Result<Value, Refused> {
        let argument = params.arguments.into_iter().next();
        let argument = argument.unwrap_or_else(|| json!({}));
        match params.command.as_str() {
            MOVE => {
                let arguments: MoveArguments = read(argument)?;
                let done = moves::carry_out(&self.workspace, &self.documents, &arguments)?;
                Ok(self.changed("moved", &done))
            }
            ROLLBACK => {
                let arguments: RollbackArguments = read(argument)?;
                let done = moves::roll_back(&self.workspace, &self.documents, &arguments)?;
                Ok(self.changed("taken back", &done))
            }
            MOVE_HERE => self.ask_where_to(&read(argument)?).map(|()| Value::Null),
            other => Err(Refused::Invalid(format!("there is no command `{other}`"))),
        }
    }

    fn changed(&mut self, what: &str, done: &Done) -> Value {
        self.stale = true;
        let (count, undo) = (done.files.len(), &done.undo);
        // Who has gone away is noticed when the answer is sent.
        let _ = self.show(MessageType::INFO, format!("{what}: {count} files; {undo}"));
        json!(done)
    }

    fn ask_where_to(&mut self, at: &TextDocumentPositionParams) -> Result<(), Refused> {
        let (path, text) = self.saved(&at.text_document.uri)?;
        let offset = self.offset(&text, at.position)?;
        let session = self.workspace.read()?;
        let (named, targets) = moves::targets(&session, &path, &text, offset)?;
        if targets.is_empty() {
            let message = format!("there is nowhere to move `{}` to", named.name);
            return Err(Refused::Impossible(message));
        }
        self.asked += 1;
        let id = RequestId::from(format!("move-{}", self.asked));
        let action = |title| MessageActionItem {
            title,
            properties: std::collections::HashMap::default(),
        };
        let question = ShowMessageRequestParams {
            typ: MessageType::INFO,
            message: format!("Move `{}` to", named.name),
            actions: Some(targets.into_iter().map(action).collect()),
        };
        self.questions.insert(id.clone(), named.name);
        let method = "window/showMessageRequest".to_owned();
        let sent = self.send(Request::new(id, method, question));
        sent.map_err(|error| Refused::Impossible(error.to_string()))
    }

    /// The user has said where to, or has closed the question.
    fn chosen(&mut self, response: Response) -> Sent {
        #[derive(Deserialize)]
        struct Choice {
            title: String,
        }
        let Some(from) = self.questions.remove(&response.id) else {
            return Ok(());
        };
        let choice: Option<Choice> = response
            .result
            .and_then(|result| serde_json::from_value(result).ok());
        let Some(Choice { title: to }) = choice else {
            return Ok(());
        };
        let arguments = MoveArguments {
            from,
            to,
            ..MoveArguments::default()
        };
        match moves::carry_out(&self.workspace, &self.documents, &arguments) {
            Ok(done) => {
                self.changed("moved", &done);
                Ok(())
            }
            Err(refused) => self.show(MessageType::ERROR, refused.to_string()),
        }
    }

    fn look_for_findings(&mut self) -> Sent {
        match self.checker.check(self.workspace.root()) {
            Ok(envelope) => self.publish(&envelope),
            // What was told before stands.
            Err(error) => self.notify(
                "window/logMessage",
                LogMessageParams {
                    typ: MessageType::ERROR,
                    message: format!("no findings: {}", error.message),
                },
            ),
        }
    }

    fn publish(&mut self, envelope: &Envelope) -> Sent {
        let found = by_file(&envelope.findings);
        let mut known: BTreeSet<TreePath> = found.keys().cloned().collect();
        let told: BTreeSet<TreePath> = known.union(&self.published).cloned().collect();
        for path in told {
            let findings = found.get(&path).map(Vec::as_slice).unwrap_or_default();
            match self.diagnostics(&path, findings) {
                Some(params) => self.notify("textDocument/publishDiagnostics", params)?,
                // They come, or go, when it is saved.
                None => {
                    known.insert(path);
                }
            }
        }
        self.published = known;
        Ok(())
    }

    /// The findings of a file as the client is told them; `None` where its buffer is not saved, and the places
    /// would be those of another text.
    fn diagnostics(
        &self,
        path: &TreePath,
        findings: &[&FindingEntry],
    ) -> Option<PublishDiagnosticsParams> {
        let document = self.documents.get(path);
        let text = self.workspace.saved_text(path);
        let saved = document.is_none_or(|open| open.is_saved_as(text.as_deref()));
        let uri = self
            .documents
            .uri(&self.workspace, path)
            .filter(|_| saved)?;
        let text = text.unwrap_or_default();
        let lines = Lines::new(&text, self.abilities.encoding);
        let diagnostics = findings.iter().map(|finding| diagnostic(finding, &lines));
        Some(PublishDiagnosticsParams {
            uri,
            diagnostics: diagnostics.collect(),
            version: document.map(|document| document.version),
        })
    }
}

/// The kind of the action that moves what stands at a place.
const MOVE_ACTION: &str = "refactor.move";

fn move_action(word: &str, at: &TextDocumentPositionParams) -> CodeActionOrCommand {
    let title = format!("Move `{word}` to …");
    let command = Command::new(title.clone(), MOVE_HERE.to_owned(), Some(vec![json!(at)]));
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::new(MOVE_ACTION)),
        command: Some(command),
        ..CodeAction::default()
    })
}

/// Findings of files; those of the tree as a whole have no place in an editor.
fn by_file(findings: &[FindingEntry]) -> BTreeMap<TreePath, Vec<&FindingEntry>> {
    let mut found: BTreeMap<TreePath, Vec<&FindingEntry>> = BTreeMap::new();
    for finding in findings {
        let path = TreePath::new(&finding.path).ok();
        if let Some(path) = path.filter(|path| !path.is_root()) {
            found.entry(path).or_default().push(finding);
        }
    }
    found
}

fn diagnostic(finding: &FindingEntry, lines: &Lines<'_>) -> Diagnostic {
    let span = finding
        .range
        .map_or(0..0, |range| range.start as usize..range.end as usize);
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    Diagnostic {
        range: lines.range(span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(finding.code.0.to_owned())),
        source: Some("coalesce".to_owned()),
        message,
        ..Diagnostic::default()
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, Refused> {
    serde_json::from_value(params).map_err(|error| Refused::Invalid(error.to_string()))
}
