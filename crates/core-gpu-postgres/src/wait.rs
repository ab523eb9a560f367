//! Two threads of a store: one goes on holding what is held, one hears when a slot goes back. Each begins when it is
//! needed first, and has a connection of its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use core_gpu::slots::remote::{Belief, clock};
use tokio_postgres::types::Type;

use crate::client::{Client, Connection, PostgresError, cell};

/// How often a lease is renewed in its time.
const RENEWALS: u32 = 4;
/// How long it is waited before the server is asked again that did not answer.
const SHORTLY: Duration = Duration::from_millis(200);

/// Renews all leases of a store, with one question for all.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub client: Arc<Client>,
    /// How long each is for.
    pub time: Duration,
    state: Mutex<Leases>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Leases {
    kept: BTreeMap<i64, Arc<Belief>>,
    /// The process whose thread keeps them: a child that was forked has none of its parent's.
    thread_of: Option<u32>,
}

impl Keeper {
    pub fn new(client: Arc<Client>, time: Duration) -> Self {
        Self {
            client,
            time,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Leases> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a lease from now on, until it is let go of.
    ///
    /// # Errors
    /// [`PostgresError::Thread`]: then it is not kept.
    pub fn keep(self: &Arc<Self>, lease: i64, belief: &Arc<Belief>) -> Result<(), PostgresError> {
        let mut leases = self.lock();
        let process = std::process::id();
        if leases.thread_of != Some(process) {
            if leases.thread_of.is_some() {
                leases.kept.clear();
            }
            leases.thread_of = None;
            let keeper = Arc::clone(self);
            let thread = thread::Builder::new().name("slot leases".to_owned());
            let started = thread.spawn(move || keeper.run());
            started.map_err(|error| PostgresError::Thread(error.to_string()))?;
            leases.thread_of = Some(process);
        }
        leases.kept.insert(lease, Arc::clone(belief));
        Ok(())
    }

    /// Lets go of a lease.
    pub fn forget(&self, lease: i64) {
        self.lock().kept.remove(&lease);
        self.changed.notify_all();
    }

    /// Until nothing is kept any more.
    fn run(&self) {
        let mut connection = None;
        let mut pause = self.time / RENEWALS;
        loop {
            let until = Instant::now() + pause;
            let mut leases = self.lock();
            while !leases.kept.is_empty() {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let waited = self.changed.wait_timeout(leases, left);
                leases = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if leases.kept.is_empty() {
                leases.thread_of = None;
                return;
            }
            let kept = leases.kept.clone();
            drop(leases);
            pause = match self.renew_on(&mut connection, &kept) {
                Ok(_) => self.time / RENEWALS,
                Err(_) => (self.time / RENEWALS / 4).max(Duration::from_millis(50)),
            };
        }
    }

    /// Renews one now. Whether it is there.
    pub fn renew(&self, lease: i64, belief: &Arc<Belief>) -> Result<bool, PostgresError> {
        let kept = BTreeMap::from([(lease, Arc::clone(belief))]);
        self.renew_by(&kept, |question, parameters| {
            self.client.ask(question, parameters)
        })
    }

    fn renew_on(
        &self,
        connection: &mut Option<Connection>,
        kept: &BTreeMap<i64, Arc<Belief>>,
    ) -> Result<bool, PostgresError> {
        self.renew_by(kept, |question, parameters| {
            self.client.ask_on(connection, question, parameters)
        })
    }

    /// Renews leases; those that have run out are lost for good. Whether all are there.
    fn renew_by(
        &self,
        kept: &BTreeMap<i64, Arc<Belief>>,
        ask: impl FnOnce(
            &str,
            crate::client::Parameters<'_>,
        ) -> Result<Vec<tokio_postgres::Row>, PostgresError>,
    ) -> Result<bool, PostgresError> {
        let leases: Vec<i64> = kept.keys().copied().collect();
        let asked = clock();
        let rows = ask(
            "SELECT {schema}.renew($1, $2 * interval '1 millisecond')",
            &[
                (&leases, Type::INT8_ARRAY),
                (&milliseconds(self.time), Type::FLOAT8),
            ],
        )?;
        let mut renewed = Vec::new();
        for row in &rows {
            renewed.push(cell::<i64>(Some(row), 0)?);
        }
        let mut all = true;
        for (lease, belief) in kept {
            match renewed.contains(lease) {
                true => all &= belief.confirm(asked, self.time),
                false => {
                    all = false;
                    belief.end();
                }
            }
        }
        Ok(all)
    }
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    1000.0 * time.as_secs_f64()
}

/// Hears of slots that go back, for all threads that wait for one.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    state: Mutex<Heard>,
    something: Condvar,
}

#[derive(Debug, Default)]
struct Heard {
    /// How often something was.
    times: u64,
    thread_of: Option<u32>,
    is_over: bool,
}

impl Listener {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often something was heard until now: for before one looks. Begins to listen.
    pub fn times(self: &Arc<Self>, client: &Arc<Client>) -> u64 {
        let mut heard = self.lock();
        let process = std::process::id();
        if heard.thread_of != Some(process) {
            let (listener, client) = (Arc::clone(self), Arc::clone(client));
            let thread = thread::Builder::new().name("slots that go back".to_owned());
            // Without it who waits looks once a second, and the next who waits tries again.
            let started = thread.spawn(move || listener.run(&client));
            heard.thread_of = started.is_ok().then_some(process);
        }
        heard.times
    }

    /// Waits until something was heard since, or so long. Whether it was.
    pub fn wait(&self, since: u64, most: Duration) -> bool {
        let heard = self.lock();
        let waited = self
            .something
            .wait_timeout_while(heard, most, |heard| heard.times == since);
        let (heard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        heard.times != since
    }

    /// Nobody waits any more.
    pub fn end(&self) {
        self.lock().is_over = true;
    }

    fn run(&self, client: &Client) {
        while !self.lock().is_over {
            let ended = client.listen(|something| {
                let mut heard = self.lock();
                if something {
                    heard.times += 1;
                    self.something.notify_all();
                }
                heard.is_over
            });
            if ended.is_err() {
                thread::sleep(SHORTLY);
            }
        }
    }
}
