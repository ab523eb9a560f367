//! A lease of etcd's, kept alive by a thread of its own as long as it is held. What a holder believes
//! ends before what etcd believes: its time counts from before the question, less a margin.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    client::{Client, EtcdError, number},
    clock,
};

/// The part of a lease's time that a holder does without at its end: one in so many.
const MARGIN: u32 = 5;
/// How often a lease is renewed in its time.
const RENEWALS: u32 = 4;

/// A lease.
#[derive(Debug)]
pub(crate) struct Lease {
    client: Arc<Client>,
    pub id: i64,
    time: Duration,
    /// Nothing is under it at the moment: it is not renewed.
    is_spare: Arc<AtomicBool>,
    /// Milliseconds of the clock until which it is believed; zero when it is lost.
    until: Arc<AtomicU64>,
    ended: Arc<(Mutex<bool>, Condvar)>,
    /// Whose it is: a child that was forked has a copy of this, and ends nothing.
    process: u32,
}

impl Lease {
    /// A lease for at least so long, and the thread that keeps it.
    pub fn grant(client: &Arc<Client>, time: Duration) -> Result<Self, EtcdError> {
        // Chosen here, so that asking twice makes one.
        let id = RandomState::new().build_hasher().finish() >> 1 | 1;
        let sent = clock::now();
        let seconds = time.as_secs().max(1);
        let body = json!({"TTL": seconds.to_string(), "ID": id.to_string()});
        let granted = match client.ask("/v3/lease/grant", &body) {
            Ok(answer) => number(&answer["TTL"]).unsigned_abs(),
            Err(EtcdError::Refused { message, .. }) if message.contains("already exists") => {
                seconds
            }
            Err(error) => return Err(error),
        };
        let lease = Self {
            client: Arc::clone(client),
            id: id.cast_signed(),
            time: Duration::from_secs(granted),
            is_spare: Arc::default(),
            until: Arc::new(AtomicU64::new(believed(sent, granted))),
            ended: Arc::default(),
            process: std::process::id(),
        };
        lease.keep();
        Ok(lease)
    }

    /// Nothing is under it any more. It is kept for the next claim, which saves making another, and
    /// runs out where none comes.
    pub fn spare(&self) {
        self.is_spare.store(true, SeqCst);
    }

    /// Takes a spare one into use, unless it is about to run out.
    pub fn take(&self) -> bool {
        let fresh = self.left().is_some_and(|left| left > self.time / 2);
        if fresh {
            self.is_spare.store(false, SeqCst);
        }
        fresh
    }

    fn keep(&self) {
        let (client, id, time) = (Arc::clone(&self.client), self.id, self.time);
        let is_spare = Arc::clone(&self.is_spare);
        let (until, ended) = (Arc::clone(&self.until), Arc::clone(&self.ended));
        thread::spawn(move || {
            let mut pause = time / RENEWALS;
            loop {
                let (lock, changed) = &*ended;
                let over = lock.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = changed.wait_timeout_while(over, pause, |over| !*over);
                let (over, _) = waited.unwrap_or_else(PoisonError::into_inner);
                if *over {
                    return;
                }
                drop(over);
                if is_spare.load(SeqCst) {
                    continue;
                }
                pause = match renew(&client, id, &until) {
                    Ok(true) => time / RENEWALS,
                    Ok(false) => return,
                    // Soon again: somebody else may answer.
                    Err(_) => (time / RENEWALS / 4).max(Duration::from_millis(50)),
                };
            }
        });
    }

    /// Renews it now. Whether it is there.
    pub fn renew(&self) -> Result<bool, EtcdError> {
        renew(&self.client, self.id, &self.until)
    }

    /// How long it may still be used; none when somebody else may have what it is for.
    pub fn left(&self) -> Option<Duration> {
        let until = Duration::from_millis(self.until.load(SeqCst));
        until
            .checked_sub(clock::now())
            .filter(|left| !left.is_zero())
    }

    /// Whether this process was forked with it, and has but a copy: its parent has the lease.
    pub fn is_of_a_parent(&self) -> bool {
        self.process != std::process::id()
    }

    /// Ends it, and with it all that was put under it.
    pub fn revoke(&self) -> Result<(), EtcdError> {
        if self.is_of_a_parent() {
            return Ok(());
        }
        self.end();
        let body = json!({"ID": self.id.to_string()});
        match self.client.ask("/v3/lease/revoke", &body) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    fn end(&self) {
        let (lock, changed) = &*self.ended;
        *lock.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        self.until.store(0, SeqCst);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.is_of_a_parent() {
            // Its lock may have been held by a thread that a fork has not copied.
            return;
        }
        let over = *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_spare.load(SeqCst) && self.left().is_none() {
            // Nothing is under it, and it runs out by itself.
            self.end();
        } else if !over {
            // If nobody hears it, it runs out.
            let _ = self.revoke();
        }
    }
}

/// Until when a lease of so many seconds is believed that was asked for at `sent`.
fn believed(sent: Duration, seconds: u64) -> u64 {
    let time = Duration::from_secs(seconds);
    let until = sent + time - time / MARGIN;
    u64::try_from(until.as_millis()).unwrap_or(u64::MAX)
}

/// Renews a lease. False when it has run out, which is for good.
fn renew(client: &Client, id: i64, until: &AtomicU64) -> Result<bool, EtcdError> {
    let sent = clock::now();
    let answer = client.ask("/v3/lease/keepalive", &json!({"ID": id.to_string()}))?;
    let seconds = number(&answer["result"]["TTL"]).max(0).unsigned_abs();
    if seconds == 0 {
        until.store(0, SeqCst);
        return Ok(false);
    }
    // One that was ended meanwhile stays so.
    let grown = |known: u64| (known > 0).then(|| known.max(believed(sent, seconds)));
    Ok(until.fetch_update(SeqCst, SeqCst, grown).is_ok())
}
