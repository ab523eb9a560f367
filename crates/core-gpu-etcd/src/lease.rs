//! A lease of etcd's, kept alive by a thread of its own as long as it is held. What a holder believes
//! ends before what etcd believes: its time counts from before the question, less a margin.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use core_gpu::slots::remote::{Belief, clock, unique_number};
use serde_json::json;

use crate::client::{Client, EtcdError, number};

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
    pub belief: Arc<Belief>,
    ended: Arc<(Mutex<bool>, Condvar)>,
    /// Whose it is: a child that was forked has a copy of this, and ends nothing.
    process: u32,
}

impl Lease {
    /// A lease for at least so long, and the thread that keeps it.
    pub fn grant(client: &Arc<Client>, time: Duration) -> Result<Self, EtcdError> {
        // Chosen here, so that asking twice makes one.
        let id = unique_number();
        let sent = clock();
        let seconds = whole_seconds(time);
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
            id,
            time: Duration::from_secs(granted),
            is_spare: Arc::default(),
            belief: Arc::new(Belief::new(sent, Duration::from_secs(granted))),
            ended: Arc::default(),
            process: std::process::id(),
        };
        // Without its thread it would run out under a holder: it is given back.
        lease
            .keep()
            .map_err(|error| EtcdError::Thread(error.to_string()))?;
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

    fn keep(&self) -> io::Result<()> {
        let (client, id, time) = (Arc::clone(&self.client), self.id, self.time);
        let is_spare = Arc::clone(&self.is_spare);
        let (belief, ended) = (Arc::clone(&self.belief), Arc::clone(&self.ended));
        let keep = move || {
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
                pause = match renew(&client, id, &belief) {
                    Ok(true) => time / RENEWALS,
                    Ok(false) => return,
                    // Soon again: somebody else may answer.
                    Err(_) => (time / RENEWALS / 4).max(Duration::from_millis(50)),
                };
            }
        };
        let thread = thread::Builder::new().name("slot lease".to_owned());
        thread.spawn(keep).map(|_| ())
    }

    /// Renews it now. Whether it is there.
    pub fn renew(&self) -> Result<bool, EtcdError> {
        renew(&self.client, self.id, &self.belief)
    }

    /// How long it may still be used; none when somebody else may have what it is for.
    pub fn left(&self) -> Option<Duration> {
        self.belief.left()
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
        self.belief.end();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.is_of_a_parent() {
            // Its lock may have been held by a thread that a fork has not copied.
            return;
        }
        let over = *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_spare.load(SeqCst) {
            // Nothing is under it, and it runs out by itself: nobody waits for a cluster that may not answer.
            self.end();
        } else if !over {
            // If nobody hears it, it runs out.
            let _ = self.revoke();
        }
    }
}

/// etcd counts leases in seconds: at least so long, and one.
fn whole_seconds(time: Duration) -> u64 {
    let more = u64::from(time.subsec_nanos() > 0);
    (time.as_secs() + more).max(1)
}

/// Renews a lease. False when it has run out, which is for good.
fn renew(client: &Client, id: i64, belief: &Belief) -> Result<bool, EtcdError> {
    let sent = clock();
    let answer = client.ask("/v3/lease/keepalive", &json!({"ID": id.to_string()}))?;
    let seconds = number(&answer["result"]["TTL"]).max(0).unsigned_abs();
    if seconds == 0 {
        belief.end();
        return Ok(false);
    }
    // One that was ended meanwhile stays so.
    Ok(belief.confirm(sent, Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_for_at_least_as_long_as_was_asked_for() {
        for (milliseconds, seconds) in
            [(0, 1), (300, 1), (1000, 1), (2000, 2), (2001, 3), (2900, 3)]
        {
            assert_eq!(whole_seconds(Duration::from_millis(milliseconds)), seconds);
        }
    }
}
