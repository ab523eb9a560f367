//! Claims of slots: each one transaction, which its lease makes one claim however often it is tried.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    thread,
    time::Duration,
};

use core_gpu::{
    driver::DeviceId,
    platform::Deadline,
    slots::{
        Claim, Request, SlotError, SlotHolder, SlotStatus, SlotStore, ValidUntil, Wanted,
        remote::{self, Attempts, HolderRecord, POLL, Tried, first_slot, time_apart},
    },
};

use crate::{
    client::{Client, EtcdError, User},
    lease::Lease,
    state::{
        Done, Keys, State, delete, has_value, is_absent, is_as_of, is_created_at, none_below, put,
        transact, transact_or_read, write,
    },
    tls::Tls,
    watch::Seen,
};

/// A request that waits looks again after so long while it cannot be told of changes.
const DEAF_POLL: Duration = Duration::from_millis(100);
/// Leases that are kept for the next claims, at most.
const SPARE_MOST: usize = 16;

/// How a cluster is reached, and as whom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EtcdOptions {
    /// The members, as `http://HOST:PORT`, or `https` with the feature `tls` and [`EtcdOptions::tls`].
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
    /// Whose signatures are believed where members are reached by `https`, and who this is.
    pub tls: Option<Tls>,
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
            tls: None,
        }
    }
}

/// Slots in etcd. See the crate for what is promised.
#[derive(Debug)]
pub struct EtcdSlots {
    client: Arc<Client>,
    options: EtcdOptions,
    /// Leases with nothing under them.
    spares: Mutex<Vec<Lease>>,
    /// Which version etcd is was asked, once.
    pub(crate) looked_at_version: AtomicBool,
}

/// What a claim holds.
#[derive(Debug)]
struct Hold {
    lease: Lease,
    token: i64,
    record: HolderRecord,
    /// Nothing else can be under the lease.
    is_alone: bool,
}

/// A claim that is being tried.
#[derive(Default)]
struct Attempt {
    lease: Option<Lease>,
    /// A transaction under the lease has had no answer: the claim may be made.
    is_open: bool,
    /// A transaction under the lease has had no answer at some time. It may still be carried out, so that
    /// the lease has to end with the claim.
    is_doubtful: bool,
    /// Looked at what there is before.
    looked: bool,
    /// The oldest revision at which a device was full in this round.
    seen: Option<i64>,
    /// How often a slot went back, and somebody else had it.
    missed: u32,
}

impl Attempt {
    fn saw(&mut self, revision: i64) {
        self.seen = Some(self.seen.map_or(revision, |seen| seen.min(revision)));
    }
}

impl EtcdSlots {
    /// Slots in that cluster. Asks it nothing yet.
    ///
    /// # Errors
    /// [`EtcdError::Prefix`]. For members that are reached by `https`: [`EtcdError::NoTls`], and
    /// [`EtcdError::Tls`] where what is said of it will not do.
    pub fn new(options: EtcdOptions) -> Result<Self, EtcdError> {
        if !options.prefix.ends_with('/') {
            return Err(EtcdError::Prefix(options.prefix));
        }
        let (user, tls) = (options.user.clone(), options.tls.as_ref());
        let client = Client::new(&options.members, user, options.patience, tls)?;
        Ok(Self {
            client: Arc::new(client),
            options,
            spares: Mutex::default(),
            looked_at_version: AtomicBool::new(false),
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
        write(&self.client, &put(&keys.closed, why, 0))
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
        remote::drain(&self.options.node, devices, |device, why| {
            self.close(device, why)
        })
    }

    /// Who holds which slot of a device, with the machine's name.
    ///
    /// # Errors
    /// As etcd fails.
    pub fn holders(&self, device: &DeviceId) -> Result<Vec<(String, SlotHolder)>, EtcdError> {
        let state = State::read(&self.client, &self.keys(device))?;
        let holders = state.held.iter().map(|held| {
            let record = &held.record;
            (record.node.clone(), record.holder(held.slot))
        });
        Ok(holders.collect())
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }

    pub(crate) fn options(&self) -> &EtcdOptions {
        &self.options
    }

    fn keys(&self, device: &DeviceId) -> Keys {
        Keys::of(&self.options.prefix, device)
    }

    fn try_device(
        &self,
        wanted: &Wanted,
        bytes: u64,
        attempt: &mut Attempt,
    ) -> Result<Tried, EtcdError> {
        let keys = self.keys(&wanted.device);
        let state = match self.try_blindly(wanted, bytes, &keys, attempt)? {
            Blindly::Taken(claim) => return Ok(Tried::Taken(claim)),
            Blindly::Saw(state) => state,
            Blindly::Untried => State::read(&self.client, &keys)?,
        };
        attempt.looked = true;
        // A claim whose answer was lost is ours all the same.
        if let Some(held) = attempt.lease.as_ref().and_then(|lease| {
            let own = state.held.iter().find(|held| held.lease == lease.id);
            own.cloned()
        }) {
            return Ok(taken(
                wanted.device,
                held.slot,
                attempt,
                (held.token, held.record),
            ));
        }
        attempt.saw(state.revision);
        if let Some(why) = state.closed {
            return Ok(Tried::Closed(why));
        }
        if state.capacity != Some(wanted.slots) {
            return self.set_capacity(&keys, wanted.slots, &state);
        }
        if bytes > 0 && state.claimed_bytes().saturating_add(bytes) > wanted.budget_bytes {
            return Ok(Tried::NoRoom(no_room(wanted, bytes, &state)));
        }
        let first = first_slot(wanted.slots);
        let mut numbers = (first..wanted.slots).chain(0..first);
        match numbers.find(|slot| state.is_free(*slot)) {
            Some(slot) => self.take(wanted, bytes, (&keys, &state, slot), attempt),
            None => Ok(Tried::Full),
        }
    }

    /// Takes a slot without having looked: one question, where it is free. Only as the first try, since
    /// one whose answer is lost has to be looked for.
    fn try_blindly(
        &self,
        wanted: &Wanted,
        bytes: u64,
        keys: &Keys,
        attempt: &mut Attempt,
    ) -> Result<Blindly, EtcdError> {
        if attempt.looked || attempt.is_open || bytes > 0 {
            return Ok(Blindly::Untried);
        }
        let id = self.lease(attempt)?;
        // Of those who have the same number of slots each begins at another.
        let slot = u32::try_from(id.unsigned_abs() % u64::from(wanted.slots)).unwrap_or(0);
        let record = HolderRecord::beginning(&self.options.node, 0);
        let (key, text) = (keys.slot(slot), encode(&record));
        let claim = keys.claim(id);
        let conditions = [
            is_absent(&key),
            is_absent(&claim),
            is_absent(&keys.closed),
            has_value(&keys.capacity, &wanted.slots.to_string()),
        ];
        attempt.is_open = true;
        let writes = [put(&key, &text, id), put(&claim, &key, id)];
        match transact_or_read(&self.client, keys, &conditions, &writes) {
            Ok(Done::Written(token)) => {
                match taken(wanted.device, slot, attempt, (token, record)) {
                    Tried::Taken(claim) => Ok(Blindly::Taken(claim)),
                    _ => Ok(Blindly::Untried),
                }
            }
            Ok(Done::Refused(state)) => {
                attempt.is_open = false;
                Ok(Blindly::Saw(state))
            }
            Err(error) if error.is_not_found() => {
                *attempt = Attempt::default();
                Ok(Blindly::Untried)
            }
            Err(error) => Err(error),
        }
    }

    /// The lease of an attempt: its own, a spare one, or a new one.
    fn lease(&self, attempt: &mut Attempt) -> Result<i64, EtcdError> {
        if let Some(lease) = attempt.lease.take_if(|lease| lease.left().is_none()) {
            (attempt.is_open, attempt.is_doubtful) = (false, false);
            drop(lease);
        }
        let spare = || {
            let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
            spares.pop()
        };
        while attempt.lease.is_none() {
            match spare() {
                Some(lease) if lease.take() => attempt.lease = Some(lease),
                Some(_) => (),
                None => {
                    attempt.lease = Some(Lease::grant(&self.client, self.options.lease)?);
                }
            }
        }
        Ok(attempt.lease.as_ref().map_or(0, |lease| lease.id))
    }

    /// Keeps a lease for the next claim. Nothing is under it.
    fn keep(&self, lease: Lease) {
        let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len() < SPARE_MOST {
            lease.spare();
            spares.push(lease);
        }
    }

    fn take(
        &self,
        wanted: &Wanted,
        bytes: u64,
        (keys, state, slot): (&Keys, &State, u32),
        attempt: &mut Attempt,
    ) -> Result<Tried, EtcdError> {
        let id = self.lease(attempt)?;
        let record = HolderRecord::beginning(&self.options.node, bytes);
        let (key, text) = (keys.slot(slot), encode(&record));
        let claim = keys.claim(id);
        let mut conditions = vec![
            is_absent(&key),
            is_absent(&claim),
            is_absent(&keys.closed),
            is_as_of(&keys.capacity, state.capacity_revision),
        ];
        let mut writes = vec![put(&key, &text, id), put(&claim, &key, id)];
        if bytes > 0 {
            // Of two who counted the same one comes second, and counts again.
            conditions.push(is_as_of(&keys.ledger, state.ledger_revision));
            writes.push(put(&keys.ledger, "", 0));
        }
        attempt.is_open = true;
        match transact_or_read(&self.client, keys, &conditions, &writes) {
            Ok(Done::Written(token)) => Ok(taken(wanted.device, slot, attempt, (token, record))),
            Ok(Done::Refused(_)) => {
                attempt.is_open = false;
                Ok(Tried::Again)
            }
            Err(error) if error.is_not_found() => {
                // The lease ran out.
                attempt.lease = None;
                (attempt.is_open, attempt.is_doubtful) = (false, false);
                Ok(Tried::Again)
            }
            Err(error) => Err(error),
        }
    }

    /// Changes the number of slots, where nobody holds one.
    fn set_capacity(&self, keys: &Keys, slots: u32, state: &State) -> Result<Tried, EtcdError> {
        if let Some(stored) = state.capacity.filter(|_| !state.held.is_empty()) {
            return Ok(Tried::Other(stored));
        }
        let conditions = [
            none_below(&keys.held),
            is_as_of(&keys.capacity, state.capacity_revision),
        ];
        let writes = [put(&keys.capacity, &slots.to_string(), 0)];
        transact(&self.client, &conditions, &writes)?;
        Ok(Tried::Again)
    }

    /// Waits until a slot of any device has gone back, or for so long.
    fn wait(&self, attempt: &mut Attempt, most: Duration) {
        let all = format!("{}slots/", self.options.prefix);
        let seen = attempt.seen;
        let heard = seen.map(|seen| self.client.watch_for_ends(&all, seen, most.min(POLL)));
        match heard {
            Some(Ok(Seen::End)) => {
                thread::sleep(most.min(time_apart(attempt.missed)));
                attempt.missed += 1;
            }
            Some(Ok(Seen::Compacted | Seen::Nothing)) => (),
            Some(Err(_)) | None => thread::sleep(most.min(DEAF_POLL)),
        }
    }
}

/// What came of a try without looking.
enum Blindly {
    Taken(Claim),
    /// Somebody has that slot, or the device takes no claims. This is what there is.
    Saw(State),
    Untried,
}

/// The tries of one claim.
struct Tries<'s> {
    store: &'s EtcdSlots,
    attempt: Attempt,
}

impl Attempts for Tries<'_> {
    type Error = EtcdError;

    fn begin(&mut self, _is_last: bool) {
        self.attempt.seen = None;
    }

    fn try_device(&mut self, request: &Request, wanted: &Wanted) -> Result<Tried, EtcdError> {
        let attempt = &mut self.attempt;
        self.store.try_device(wanted, request.bytes, attempt)
    }

    fn is_open(&mut self, error: &EtcdError) -> bool {
        let attempt = &mut self.attempt;
        attempt.looked = true;
        attempt.is_doubtful |= attempt.is_open;
        attempt.seen = None;
        matches!(error, EtcdError::Unreachable(_))
    }

    fn wait(&mut self, most: Duration) {
        self.store.wait(&mut self.attempt, most);
    }

    fn give_up(&mut self) {
        let attempt = &mut self.attempt;
        let is_free = !attempt.is_open && !attempt.is_doubtful;
        if let Some(lease) = attempt.lease.take_if(|_| is_free) {
            self.store.keep(lease);
        }
    }
}

impl SlotStore for EtcdSlots {
    fn claim(&self, request: &Request, by: Deadline) -> Result<Claim, SlotError> {
        self.look_at_version();
        let attempt = Attempt::default();
        remote::claim(
            request,
            by,
            &mut Tries {
                store: self,
                attempt,
            },
        )
    }

    fn renew(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        let hold: &Hold = claim.hold_ref().ok_or(SlotError::OtherStore)?;
        hold.lease.belief.after(hold.lease.renew(), claim)
    }

    fn check(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        let hold: &Hold = claim.hold_ref().ok_or(SlotError::OtherStore)?;
        hold.lease.belief.check(claim)
    }

    fn release(&self, claim: Claim) -> Result<(), SlotError> {
        let keys = self.keys(&claim.device);
        let key = keys.slot(claim.slot);
        let hold: Hold = claim.hold().ok_or(SlotError::OtherStore)?;
        if hold.lease.is_of_a_parent() {
            return Ok(());
        }
        if !hold.is_alone {
            return hold.lease.revoke().map_err(SlotError::from);
        }
        // Of this claim alone: the slot may be somebody else's by now.
        let conditions = [is_created_at(&key, hold.token)];
        let writes = [delete(&key), delete(&keys.claim(hold.lease.id))];
        match transact(&self.client, &conditions, &writes) {
            Ok(true) => {
                self.keep(hold.lease);
                Ok(())
            }
            // Whatever became of that: with its lease it is gone.
            Ok(false) | Err(_) => hold.lease.revoke().map_err(SlotError::from),
        }
    }

    fn note_use(&self, claim: &mut Claim, time: Duration) -> Result<(), SlotError> {
        let (device, slot) = (claim.device, claim.slot);
        let hold: &mut Hold = claim.hold_mut().ok_or(SlotError::OtherStore)?;
        hold.record.add_use(time);
        let key = self.keys(&device).slot(slot);
        let conditions = [is_created_at(&key, hold.token)];
        let writes = [put(&key, &encode(&hold.record), hold.lease.id)];
        match transact(&self.client, &conditions, &writes).map_err(SlotError::from)? {
            true => Ok(()),
            false => Err(SlotError::Lost { device, slot }),
        }
    }

    fn status(&self, device: &DeviceId) -> Result<SlotStatus, SlotError> {
        let state = State::read(&self.client, &self.keys(device));
        let state = state.map_err(SlotError::from)?;
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
    attempt: &mut Attempt,
    (token, record): (i64, HolderRecord),
) -> Tried {
    let Some(lease) = attempt.lease.take() else {
        return Tried::Again;
    };
    let hold = Hold {
        lease,
        token,
        record,
        is_alone: !attempt.is_doubtful,
    };
    Tried::Taken(Claim::new(device, slot, hold))
}

fn encode(record: &HolderRecord) -> String {
    serde_json::to_string(record).unwrap_or_default()
}

fn no_room(wanted: &Wanted, asked_bytes: u64, state: &State) -> SlotError {
    let holders = state.held.iter();
    SlotError::Memory {
        device: wanted.device,
        asked_bytes,
        claimed_bytes: state.claimed_bytes(),
        budget_bytes: wanted.budget_bytes,
        holders: holders.map(|held| held.record.holder(held.slot)).collect(),
        waited: Duration::ZERO,
    }
}
