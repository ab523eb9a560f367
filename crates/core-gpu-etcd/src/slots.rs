//! Claims of slots: each one transaction, which its lease makes one claim however often it is tried.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use core_gpu::{
    driver::DeviceId,
    platform::Deadline,
    slots::{Claim, Request, SlotError, SlotHolder, SlotStatus, SlotStore, ValidUntil, Wanted},
};

use crate::{
    client::{Client, EtcdError, User},
    lease::Lease,
    state::{Keys, Record, State, is_absent, is_as_of, none_below, put, transact},
};

/// How often a request that must not wait looks again after others were quicker.
const ROUNDS: u32 = 40;
/// A request that waits asks again after so long, whatever it hears.
const POLL: Duration = Duration::from_millis(100);

/// How a cluster is reached, and as whom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EtcdOptions {
    /// The members, as `http://HOST:PORT`. `https` is refused: this crate is built without TLS.
    pub members: Vec<String>,
    /// What all keys begin with; ends with `/`.
    pub prefix: String,
    /// The name of this machine, for people and for [`EtcdSlots::drain`].
    pub node: String,
    /// How long a claim holds that nobody renews: after a crash the slot is free so much later. etcd
    /// has a least time of its own, 2 s unless it is told otherwise.
    pub lease: Duration,
    /// How long a member may take to answer.
    pub patience: Duration,
    /// Who asks, where etcd wants to know.
    pub user: Option<User>,
}

impl EtcdOptions {
    /// Members of a cluster; all else as it usually is.
    #[must_use]
    pub fn new(members: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            members: members.into_iter().map(Into::into).collect(),
            prefix: "/coalesce/".to_owned(),
            node: String::new(),
            lease: Duration::from_secs(10),
            patience: Duration::from_secs(2),
            user: None,
        }
    }
}

/// Slots in etcd. See the crate for what is promised.
#[derive(Debug)]
pub struct EtcdSlots {
    client: Arc<Client>,
    options: EtcdOptions,
}

/// What a claim holds.
#[derive(Debug)]
struct Hold {
    lease: Lease,
    token: i64,
    record: Record,
}

enum Outcome {
    Taken(Claim),
    Full,
    NoRoom(SlotError),
    Closed(String),
    /// Others go by another number and hold slots.
    Other(u32),
    /// Somebody was quicker.
    Again,
}

impl EtcdSlots {
    /// Slots in that cluster. Asks it nothing yet.
    ///
    /// # Errors
    /// [`EtcdError::NoTls`] for members that are reached by `https`.
    pub fn new(options: EtcdOptions) -> Result<Self, EtcdError> {
        let user = options.user.clone();
        let client = Client::new(&options.members, user, options.patience)?;
        Ok(Self {
            client: Arc::new(client),
            options,
        })
    }

    /// The fencing token of a claim: it grows with each claim of a slot, so that whoever is given the
    /// tokens can refuse an older one. None for a claim of another store.
    #[must_use]
    pub fn token(claim: &Claim) -> Option<u64> {
        let hold: &Hold = claim.hold_ref()?;
        Some(hold.token.unsigned_abs())
    }

    /// Lets nobody claim a device any more, until it is opened: a sick one (quarantine), or one that is
    /// to be free soon. Who holds a slot of it goes on holding it.
    ///
    /// # Errors
    /// As etcd fails.
    pub fn close(&self, device: &DeviceId, why: &str) -> Result<(), EtcdError> {
        let keys = self.keys(device);
        // The same however often it is done.
        transact(&self.client, &[], &[put(&keys.closed, why, 0)]).map(|_| ())
    }

    /// Lets a device be claimed again.
    ///
    /// # Errors
    /// As etcd fails.
    pub fn open(&self, device: &DeviceId) -> Result<(), EtcdError> {
        use crate::client::encoded;
        let body = serde_json::json!({"key": encoded(&self.keys(device).closed)});
        self.client.ask("/v3/kv/deleterange", &body).map(|_| ())
    }

    /// Closes all devices of a machine: nothing begins there any more, and what is there ends by itself.
    ///
    /// # Errors
    /// As etcd fails; some may be closed then.
    pub fn drain(&self, devices: &[DeviceId]) -> Result<(), EtcdError> {
        let why = format!("{} is drained", self.options.node);
        devices
            .iter()
            .try_for_each(|device| self.close(device, &why))
    }

    /// Who holds which slot of a device, with the machine's name.
    ///
    /// # Errors
    /// As etcd fails.
    pub fn holders(&self, device: &DeviceId) -> Result<Vec<(String, SlotHolder)>, EtcdError> {
        let state = State::read(&self.client, &self.keys(device))?;
        let holders = state.held.iter().map(|held| {
            let record = &held.record;
            (record.node.clone(), holder_of(held.slot, record))
        });
        Ok(holders.collect())
    }

    fn keys(&self, device: &DeviceId) -> Keys {
        Keys::of(&self.options.prefix, device)
    }

    fn try_device(
        &self,
        wanted: &Wanted,
        bytes: u64,
        lease: &mut Option<Lease>,
    ) -> Result<Outcome, EtcdError> {
        let keys = self.keys(&wanted.device);
        let state = State::read(&self.client, &keys)?;
        // A claim whose answer was lost is ours all the same.
        if let Some(held) = lease.as_ref().and_then(|lease| {
            let own = state.held.iter().find(|held| held.lease == lease.id);
            own.cloned()
        }) {
            return Ok(taken(
                wanted.device,
                held.slot,
                lease,
                (held.token, held.record),
            ));
        }
        if let Some(why) = state.closed {
            return Ok(Outcome::Closed(why));
        }
        if state.capacity != Some(wanted.slots) {
            return self.set_capacity(&keys, wanted.slots, &state);
        }
        if bytes > 0 && state.claimed_bytes().saturating_add(bytes) > wanted.budget_bytes {
            return Ok(Outcome::NoRoom(no_room(wanted, bytes, &state)));
        }
        let first = process_offset(wanted.slots);
        let mut numbers = (first..wanted.slots).chain(0..first);
        match numbers.find(|slot| state.is_free(*slot)) {
            Some(slot) => self.take(wanted, bytes, (&keys, &state, slot), lease),
            None => Ok(Outcome::Full),
        }
    }

    fn take(
        &self,
        wanted: &Wanted,
        bytes: u64,
        (keys, state, slot): (&Keys, &State, u32),
        lease: &mut Option<Lease>,
    ) -> Result<Outcome, EtcdError> {
        if lease.as_ref().is_none_or(|lease| lease.left().is_none()) {
            *lease = Some(Lease::grant(&self.client, self.options.lease)?);
        }
        let id = lease.as_ref().map_or(0, |lease| lease.id);
        let record = Record {
            node: self.options.node.clone(),
            process: std::process::id(),
            bytes,
            since: milliseconds(),
            used: 0,
        };
        let key = keys.slot(slot);
        let text = serde_json::to_string(&record).unwrap_or_default();
        let mut conditions = vec![
            is_absent(&key),
            is_absent(&keys.closed),
            is_as_of(&keys.capacity, state.capacity_revision),
        ];
        let mut writes = vec![put(&key, &text, id)];
        if bytes > 0 {
            // Of two who counted the same one comes second, and counts again.
            conditions.push(is_as_of(&keys.ledger, state.ledger_revision));
            writes.push(put(&keys.ledger, "", 0));
        }
        match transact(&self.client, &conditions, &writes) {
            Ok((true, token)) => Ok(taken(wanted.device, slot, lease, (token, record))),
            Ok((false, _)) => Ok(Outcome::Again),
            Err(error) if error.is_not_found() => {
                // The lease ran out.
                *lease = None;
                Ok(Outcome::Again)
            }
            Err(error) => Err(error),
        }
    }

    /// Changes the number of slots, where nobody holds one.
    fn set_capacity(&self, keys: &Keys, slots: u32, state: &State) -> Result<Outcome, EtcdError> {
        if let Some(stored) = state.capacity.filter(|_| !state.held.is_empty()) {
            return Ok(Outcome::Other(stored));
        }
        let conditions = [
            none_below(&keys.held),
            is_as_of(&keys.capacity, state.capacity_revision),
        ];
        let writes = [put(&keys.capacity, &slots.to_string(), 0)];
        transact(&self.client, &conditions, &writes)?;
        Ok(Outcome::Again)
    }

    /// Tries every device once. What to say if that was the last try.
    fn try_all(
        &self,
        request: &Request,
        lease: &mut Option<Lease>,
    ) -> Result<Result<Claim, Refused>, EtcdError> {
        let mut refused = Refused::default();
        let mut closed = 0;
        let with_slots = || request.devices.iter().filter(|wanted| wanted.slots > 0);
        for wanted in with_slots() {
            let device = wanted.device;
            match self.try_device(wanted, request.bytes, lease)? {
                Outcome::Taken(claim) => return Ok(Ok(claim)),
                Outcome::Full => (),
                Outcome::Again => refused.again = true,
                Outcome::NoRoom(why) => refused.why = refused.why.or(Some(why)),
                Outcome::Closed(why) => {
                    closed += 1;
                    refused.closed = refused.closed.or(Some(SlotError::Closed { device, why }));
                }
                Outcome::Other(stored) => {
                    refused.at_once = Some(SlotError::Capacity {
                        device,
                        stored,
                        asked: wanted.slots,
                    });
                }
            }
        }
        if closed < with_slots().count() {
            refused.closed = None;
        }
        Ok(Err(refused))
    }
}

/// Why a round gave no slot.
#[derive(Default)]
struct Refused {
    again: bool,
    why: Option<SlotError>,
    closed: Option<SlotError>,
    at_once: Option<SlotError>,
}

impl SlotStore for EtcdSlots {
    fn claim(&self, request: &Request, by: Deadline) -> Result<Claim, SlotError> {
        request.check()?;
        let (start, mut rounds, mut lease) = (Instant::now(), 0, None);
        loop {
            let refused = match self.try_all(request, &mut lease) {
                Ok(Ok(claim)) => return Ok(claim),
                Ok(Err(refused)) => refused,
                // Whether the claim was made is not known: the next round sees it.
                Err(EtcdError::Unreachable(_)) if !by.is_over() => Refused::default(),
                Err(error) => return Err(of_etcd(&error)),
            };
            if let Some(error) = refused.at_once {
                return Err(error);
            }
            rounds += 1;
            let go_on = refused.again && rounds <= ROUNDS;
            if by.is_over() && !go_on {
                let full = SlotError::Full {
                    devices: request.devices.len(),
                    waited: start.elapsed(),
                };
                return Err(refused.closed.or(refused.why).unwrap_or(full));
            }
            let pause = match go_on {
                true => Duration::from_millis(u64::from(rounds.min(10))),
                false => by.left().map_or(POLL, |left| left.min(POLL)),
            };
            thread::sleep(pause);
        }
    }

    fn renew(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        let hold: &Hold = claim.hold_ref().ok_or(SlotError::OtherStore)?;
        match hold.lease.renew() {
            Ok(true) => self.check(claim),
            Ok(false) => Err(lost(claim)),
            Err(error) => Err(of_etcd(&error)),
        }
    }

    fn check(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        let hold: &Hold = claim.hold_ref().ok_or(SlotError::OtherStore)?;
        let left = hold.lease.left().ok_or_else(|| lost(claim))?;
        Ok(ValidUntil::Time(Deadline::after(left)))
    }

    fn release(&self, claim: Claim) -> Result<(), SlotError> {
        let hold: Hold = claim.hold().ok_or(SlotError::OtherStore)?;
        hold.lease.revoke().map_err(|error| of_etcd(&error))
    }

    fn note_use(&self, claim: &mut Claim, time: Duration) -> Result<(), SlotError> {
        let (device, slot) = (claim.device, claim.slot);
        let hold: &mut Hold = claim.hold_mut().ok_or(SlotError::OtherStore)?;
        let more = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        hold.record.used = hold.record.used.saturating_add(more);
        let key = self.keys(&device).slot(slot);
        let text = serde_json::to_string(&hold.record).unwrap_or_default();
        let created = serde_json::json!({
            "key": crate::client::encoded(&key), "target": "CREATE",
            "create_revision": hold.token.to_string(),
        });
        let written = transact(&self.client, &[created], &[put(&key, &text, hold.lease.id)]);
        match written.map_err(|error| of_etcd(&error))? {
            (true, _) => Ok(()),
            (false, _) => Err(SlotError::Lost { device, slot }),
        }
    }

    fn status(&self, device: &DeviceId) -> Result<SlotStatus, SlotError> {
        let state = State::read(&self.client, &self.keys(device));
        let state = state.map_err(|error| of_etcd(&error))?;
        let mut held: Vec<_> = state.held.iter().map(|held| held.slot).collect();
        held.sort_unstable();
        Ok(SlotStatus {
            capacity: state.capacity,
            claimed_bytes: state.claimed_bytes(),
            held,
        })
    }
}

fn taken(
    device: DeviceId,
    slot: u32,
    lease: &mut Option<Lease>,
    (token, record): (i64, Record),
) -> Outcome {
    let Some(lease) = lease.take() else {
        return Outcome::Again;
    };
    let hold = Hold {
        lease,
        token,
        record,
    };
    Outcome::Taken(Claim::new(device, slot, hold))
}

fn lost(claim: &Claim) -> SlotError {
    SlotError::Lost {
        device: claim.device,
        slot: claim.slot,
    }
}

fn of_etcd(error: &EtcdError) -> SlotError {
    let why = error.to_string();
    match error.is_no_space() {
        true => SlotError::StoreFull { why },
        false => SlotError::Store { why },
    }
}

fn no_room(wanted: &Wanted, asked_bytes: u64, state: &State) -> SlotError {
    let holders = state.held.iter();
    SlotError::Memory {
        device: wanted.device,
        asked_bytes,
        claimed_bytes: state.claimed_bytes(),
        budget_bytes: wanted.budget_bytes,
        holders: holders
            .map(|held| holder_of(held.slot, &held.record))
            .collect(),
        waited: Duration::ZERO,
    }
}

fn holder_of(slot: u32, record: &Record) -> SlotHolder {
    let held = milliseconds().checked_sub(record.since);
    SlotHolder {
        slot,
        process: Some(record.process),
        claimed_bytes: record.bytes,
        held_for: held.map(Duration::from_millis),
        used_for: Duration::from_micros(record.used),
    }
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Where this process begins to look: not where all others do.
fn process_offset(slots: u32) -> u32 {
    std::process::id().checked_rem(slots).unwrap_or(0)
}
