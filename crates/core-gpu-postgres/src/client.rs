//! Questions to the server, each with a limit of time: on connections that are kept, on the thread that asks.

use std::{
    future::poll_fn,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::{Duration, Instant},
};

use core_gpu::slots::{SlotError, remote::error_of};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use tokio_postgres::{
    AsyncMessage, Config, NoTls, Row, Statement,
    error::SqlState,
    types::{ToSql, Type},
};

use crate::schema;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The server does not answer in time, or not now. Whether the question was carried out is not known.
    #[error("PostgreSQL does not answer: {0}")]
    Unreachable(String),
    /// The question was not sent: no connection is to be had, or not now. Nothing was carried out.
    #[error("PostgreSQL was not asked: {0}")]
    NotAsked(String),
    /// The system gave no thread to renew leases.
    #[error("no thread to renew leases: {0}")]
    Thread(String),
    /// The server answered that it will not.
    #[error("PostgreSQL refuses: {message}")]
    Refused {
        /// The code of its standard (`SQLSTATE`), empty where the client refuses.
        code: String,
        /// What it said.
        message: String,
    },
    /// What is said of the server will not do.
    #[error("no address of a server: {0}")]
    Address(String),
    /// The schema was made by another version of this crate.
    #[error("schema {schema} is of version {found}, not {wanted}: use another schema")]
    Version {
        /// The schema.
        schema: String,
        /// Its version.
        found: i32,
        /// Ours.
        wanted: i32,
    },
    /// An answer that is none of ours.
    #[error("an answer of PostgreSQL's is not understood: {0}")]
    Answer(String),
}

impl PostgresError {
    /// Whether the server has no space left.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == SqlState::DISK_FULL.code())
    }

    /// Whether the server may answer another time.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::NotAsked(_))
    }

    /// Of what went before the question.
    fn not_asked(self) -> Self {
        match self {
            Self::Unreachable(why) => Self::NotAsked(why),
            other => other,
        }
    }

    /// Of a question that was sent before.
    fn asked_before(self) -> Self {
        match self {
            Self::NotAsked(why) => Self::Unreachable(why),
            other => other,
        }
    }
}

impl From<PostgresError> for SlotError {
    fn from(error: PostgresError) -> Self {
        error_of(&error, error.is_no_space())
    }
}

/// What a server says of itself for a while: it stops, starts, or is too busy; a transaction that was in another's way.
const NOT_NOW: [SqlState; 9] = [
    SqlState::QUERY_CANCELED,
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::TOO_MANY_CONNECTIONS,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::READ_ONLY_SQL_TRANSACTION,
];

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) if !NOT_NOW.contains(said.code()) => Self::Refused {
                code: said.code().code().to_owned(),
                message: said.message().to_owned(),
            },
            Some(said) => Self::Unreachable(said.message().to_owned()),
            None => of_the_client(&error),
        }
    }
}

/// An error that is not the server's.
fn of_the_client(error: &tokio_postgres::Error) -> PostgresError {
    // Its own words name the kind; what was wrong is the cause's.
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let why = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
    // What the client refuses by itself will not do at any time: a password that is missing, too.
    if why.contains("TLS") {
        return PostgresError::Refused {
            code: String::new(),
            message: format!("{why} (connections are not encrypted here)"),
        };
    }
    match why.starts_with("invalid configuration") {
        true => PostgresError::Address(why),
        false => PostgresError::Unreachable(why),
    }
}

/// A question with what it asks for.
pub(crate) type Parameters<'p> = &'p [(&'p (dyn ToSql + Sync), Type)];

/// A connection, and the runtime that it lives on: it works while somebody waits for an answer.
pub(crate) struct Connection {
    runtime: Runtime,
    client: tokio_postgres::Client,
    /// Statements that the server knows, by their text.
    prepared: Vec<(String, Statement)>,
}

impl Connection {
    fn open(config: &Config, patience: Duration) -> Result<Self, PostgresError> {
        let runtime = runtime()?;
        let client = within(&runtime, patience, async {
            let (client, connection) = config.connect(NoTls).await?;
            // Its end is seen by whoever asks next.
            tokio::spawn(async move { drop(connection.await) });
            client.batch_execute(&session(patience)).await?;
            Ok(client)
        })?;
        Ok(Self {
            runtime,
            client,
            prepared: Vec::new(),
        })
    }

    fn ask(
        &mut self,
        question: &str,
        parameters: Parameters<'_>,
        patience: Duration,
    ) -> Result<Vec<Row>, PostgresError> {
        let known = self.prepared.iter().find(|(text, _)| text == question);
        let known = known.map(|(_, statement)| statement.clone());
        let (statement, rows) = within(&self.runtime, patience, async {
            let statement = match known {
                Some(statement) => statement,
                None => {
                    let types: Vec<_> = parameters.iter().map(|(_, kind)| kind.clone()).collect();
                    self.client.prepare_typed(question, &types).await?
                }
            };
            let values: Vec<_> = parameters.iter().map(|(value, _)| *value).collect();
            let rows = self.client.query(&statement, &values).await?;
            Ok((statement, rows))
        })?;
        if self.prepared.iter().all(|(text, _)| text != question) {
            self.prepared.push((question.to_owned(), statement));
        }
        Ok(rows)
    }
}

/// What each connection is told first: transactions see what others have done meanwhile, claims outlive a crash, and
/// the server gives up when nobody waits any more.
fn session(patience: Duration) -> String {
    format!(
        "SET default_transaction_isolation TO 'read committed'; SET statement_timeout TO {}; \
         SELECT set_config('synchronous_commit', 'on', false) \
         WHERE current_setting('synchronous_commit') IN ('off', 'local')",
        patience.as_millis().max(1)
    )
}

fn runtime() -> Result<Runtime, PostgresError> {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    runtime.map_err(|error| PostgresError::Unreachable(error.to_string()))
}

fn within<T>(
    runtime: &Runtime,
    patience: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, PostgresError> {
    let answered = runtime.block_on(async { timeout(patience, work).await });
    let late = |_| PostgresError::Unreachable(format!("nothing in {} ms", patience.as_millis()));
    Ok(answered.map_err(late)??)
}

/// A server, and the connections that are kept to it.
pub(crate) struct Client {
    config: Config,
    pub schema: String,
    pub patience: Duration,
    pool: Mutex<Pool>,
    returned: Condvar,
}

struct Pool {
    idle: Vec<Connection>,
    /// How many more may be opened.
    free: usize,
    is_ready: bool,
    /// Whose they are: a child that was forked has copies, which it must not touch.
    process: u32,
}

impl Pool {
    /// Forgets the connections of the process that this one was forked off.
    fn leave_parents(&mut self) {
        if self.process == std::process::id() {
            return;
        }
        // Closing a copy would end its parent's as well.
        let parents = std::mem::take(&mut self.idle);
        self.free += parents.len();
        std::mem::forget(parents);
        self.process = std::process::id();
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("config", &self.config)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// Expects a name that needs no quotes.
fn check_schema(name: &str) -> Result<(), PostgresError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let first = name.bytes().next();
    let starts_well = first.is_some_and(|byte| !byte.is_ascii_digit());
    if starts_well && name.len() <= 60 && name.bytes().all(plain) {
        return Ok(());
    }
    let why = format!("`{name}` is no name of a schema: a-z, 0-9 and _ alone");
    Err(PostgresError::Address(why))
}

impl Client {
    pub fn new(
        config: Config,
        schema: &str,
        patience: Duration,
        connections: usize,
    ) -> Result<Self, PostgresError> {
        check_schema(schema)?;
        Ok(Self {
            config,
            schema: schema.to_owned(),
            patience,
            pool: Mutex::new(Pool {
                idle: Vec::new(),
                free: connections.max(1),
                is_ready: false,
                process: std::process::id(),
            }),
            returned: Condvar::new(),
        })
    }

    /// Asks, on a connection of the pool; `{schema}` in the question is ours. Only for what may be carried out twice:
    /// where a connection that was kept turns out to be gone, another is asked.
    pub fn ask(
        &self,
        question: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, PostgresError> {
        let question = question.replace("{schema}", &self.schema);
        let mut kept = self.take()?;
        let is_second = kept.is_some();
        if let Some(connection) = &mut kept {
            match connection.ask(&question, parameters, self.patience) {
                // Slow is not gone.
                Err(PostgresError::Unreachable(_)) if connection.client.is_closed() => (),
                answered => return self.give_back(kept, answered),
            }
        }
        let mut opened = None;
        let answered = self.open().and_then(|connection| {
            let connection = opened.insert(connection);
            connection.ask(&question, parameters, self.patience)
        });
        let answered = match is_second {
            true => answered.map_err(PostgresError::asked_before),
            false => answered,
        };
        self.give_back(opened, answered)
    }

    /// Asks, on one connection more where all of the pool are in use: for what must not wait for others.
    pub fn ask_at_once(
        &self,
        question: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, PostgresError> {
        match self.ask(question, parameters) {
            Err(PostgresError::NotAsked(_)) => self.ask_on(&mut None, question, parameters),
            answered => answered,
        }
    }

    /// A connection that is nobody else's. The schema is there.
    pub fn open(&self) -> Result<Connection, PostgresError> {
        let opened = Connection::open(&self.config, self.patience);
        let mut connection = opened.map_err(PostgresError::not_asked)?;
        if !self.lock().is_ready {
            let made = self.make_schema(&mut connection);
            made.map_err(PostgresError::not_asked)?;
            self.lock().is_ready = true;
        }
        Ok(connection)
    }

    /// Asks on a connection of one's own.
    pub fn ask_on(
        &self,
        connection: &mut Option<Connection>,
        question: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, PostgresError> {
        let question = question.replace("{schema}", &self.schema);
        let mut open = match connection.take() {
            Some(open) => open,
            None => self.open()?,
        };
        let rows = open.ask(&question, parameters, self.patience)?;
        *connection = Some(open);
        Ok(rows)
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is kept, or the right to open one. Waits for who has them all, as long as for an answer.
    fn take(&self) -> Result<Option<Connection>, PostgresError> {
        let until = Instant::now() + self.patience;
        let mut pool = self.lock();
        pool.leave_parents();
        loop {
            if let Some(connection) = pool.idle.pop() {
                return Ok(Some(connection));
            }
            if pool.free > 0 {
                pool.free -= 1;
                return Ok(None);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let why = "all connections of this store are in use".to_owned();
                return Err(PostgresError::NotAsked(why));
            }
            let waited = self.returned.wait_timeout(pool, left);
            pool = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Keeps a connection that answers, and gives up one that does not.
    fn give_back<T>(
        &self,
        connection: Option<Connection>,
        answered: Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let is_well = !answered.as_ref().is_err_and(PostgresError::is_passing);
        let mut pool = self.lock();
        match connection.filter(|connection| is_well && !connection.client.is_closed()) {
            Some(connection) => pool.idle.push(connection),
            None => pool.free += 1,
        }
        self.returned.notify_one();
        answered
    }

    /// Makes the schema where it is not there, one who asks at a time.
    fn make_schema(&self, connection: &mut Connection) -> Result<(), PostgresError> {
        let schema = &self.schema;
        let make = format!(
            "DO $make$ BEGIN PERFORM pg_advisory_xact_lock(hashtextextended('{schema}', 0));
             IF to_regclass('{schema}.version') IS NULL THEN EXECUTE $definition${}$definition$;
             END IF; END $make$",
            schema::definition(schema)
        );
        let look = format!("SELECT version FROM {schema}.version");
        let rows = within(&connection.runtime, self.patience, async {
            connection.client.batch_execute(&make).await?;
            connection.client.query(&look, &[]).await
        })?;
        let found: i32 = cell(rows.first(), 0)?;
        let (schema, wanted) = (schema.clone(), schema::VERSION);
        match found == wanted {
            true => Ok(()),
            false => Err(PostgresError::Version {
                schema,
                found,
                wanted,
            }),
        }
    }

    /// Hears what others notify of, until `heard` says that it is enough; it is asked once in every `patience`, and told
    /// whether there was something.
    pub fn listen(&self, mut heard: impl FnMut(bool) -> bool) -> Result<(), PostgresError> {
        let runtime = runtime()?;
        let listen = format!("LISTEN {}", self.schema);
        let (client, mut messages) = within(&runtime, self.patience, self.config.connect(NoTls))?;
        runtime.block_on(async {
            // The question is passed on by whoever looks for messages.
            let mut asked = Box::pin(client.batch_execute(&listen));
            let mut is_asked = false;
            loop {
                let next = poll_fn(|context| {
                    if !is_asked && let Poll::Ready(said) = asked.as_mut().poll(context) {
                        is_asked = true;
                        if let Err(error) = said {
                            return Poll::Ready(Some(Err(error)));
                        }
                    }
                    messages.poll_message(context)
                });
                let something = match timeout(self.patience, next).await {
                    Ok(Some(Ok(AsyncMessage::Notification(_)))) => true,
                    Ok(Some(Ok(_))) | Err(_) => false,
                    Ok(Some(Err(error))) => return Err(error.into()),
                    Ok(None) => {
                        let why = "it ended the connection".to_owned();
                        return Err(PostgresError::Unreachable(why));
                    }
                };
                if heard(something) {
                    return Ok(());
                }
            }
        })
    }
}

/// A value of an answer.
pub(crate) fn cell<'r, T: tokio_postgres::types::FromSql<'r>>(
    row: Option<&'r Row>,
    column: usize,
) -> Result<T, PostgresError> {
    let row = row.ok_or_else(|| PostgresError::Answer("no row".to_owned()))?;
    row.try_get(column)
        .map_err(|error| PostgresError::Answer(error.to_string()))
}
