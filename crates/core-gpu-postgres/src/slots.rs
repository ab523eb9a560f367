//! Claims of slots: each one function of the server's, which its lease makes one claim however often it is asked.

use std::{fmt, sync::Arc, thread, time::Duration};

use core_gpu::{
    driver::DeviceId,
    platform::Deadline,
    slots::{
        Claim, Request, SlotError, SlotHolder, SlotStatus, SlotStore, ValidUntil, Wanted,
        remote::{
            self, Attempts, Belief, ClusterView, HolderRecord, NodeDevice, POLL, Tried, clock,
            first_slot, time_apart, unique_number,
        },
    },
};
use tokio_postgres::{Config, Row, types::Type};

use crate::{
    client::{Client, PostgresError, cell},
    state::{self, number},
    wait::{Keeper, Listener, milliseconds},
};

/// The least time between two looks of one that waits, whatever it hears.
const LEAST: Duration = Duration::from_millis(1);

/// Takes a slot: see `schema`.
const CLAIM: &str = "
SELECT outcome, on_device, slot, revision, why, wait FROM {schema}.claim(
    $1, $2, $3::text::numeric, $4, $5 * interval '1 millisecond', $6, $7, $8, $9::text::numeric,
    $10::text::numeric)";

/// How a server is reached, and as whom.
#[derive(Clone)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// The server, as `postgresql://USER:PASSWORD@HOST:PORT/DATABASE` or `host=… user=…`; several hosts are tried in
    /// turn, and with `target_session_attrs=read-write` a replica is passed over.
    pub address: String,
    /// The schema that tables are made in, where it is not there. One who may make none asks who may to open a
    /// store once, and to grant `USAGE` of the schema and all rights to its tables.
    pub schema: String,
    /// The name of this machine, for people and for [`PostgresSlots::drain`].
    pub node: String,
    /// How long a claim holds that nobody renews: after a crash the slot is free so much later.
    pub lease: Duration,
    /// How long the server may take to answer.
    pub patience: Duration,
    /// How many connections a store has at most for claims, besides one that renews and one that hears of slots.
    pub connections: usize,
}

impl PostgresOptions {
    /// A server; all else as it usually is.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            schema: "coalesce_slots".to_owned(),
            node: String::new(),
            lease: Duration::from_secs(10),
            patience: Duration::from_secs(2),
            connections: 4,
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may have a password in it; the client's own words leave that out.
        f.debug_struct("PostgresOptions")
            .field("address", &self.address.parse::<Config>().ok())
            .field("schema", &self.schema)
            .field("node", &self.node)
            .field("lease", &self.lease)
            .field("patience", &self.patience)
            .field("connections", &self.connections)
            .finish()
    }
}

/// Slots in PostgreSQL. See the crate for what is promised.
#[derive(Debug)]
pub struct PostgresSlots {
    client: Arc<Client>,
    keeper: Arc<Keeper>,
    listener: Arc<Listener>,
    options: PostgresOptions,
}

/// A lease that is held: it ends with this.
#[derive(Debug)]
struct Hold {
    keeper: Arc<Keeper>,
    lease: i64,
    belief: Arc<Belief>,
    /// The device's revision; zero for what is no slot.
    token: i64,
    record: HolderRecord,
    /// An answer was lost: the question may still be carried out.
    is_doubtful: bool,
    is_over: bool,
    /// Whose it is: a child that was forked has a copy of this, and ends nothing.
    process: u32,
}

impl Hold {
    /// Holds a lease, and gives it back where nobody can renew it.
    fn new(
        keeper: &Arc<Keeper>,
        lease: i64,
        asked: Duration,
        record: HolderRecord,
        is_doubtful: bool,
    ) -> Result<Self, PostgresError> {
        let belief = Arc::new(Belief::new(asked, keeper.time));
        let hold = Self {
            keeper: Arc::clone(keeper),
            lease,
            belief,
            token: 0,
            record,
            is_doubtful,
            is_over: false,
            process: std::process::id(),
        };
        keeper.keep(lease, &hold.belief)?;
        Ok(hold)
    }

    fn end(&mut self) -> Result<(), PostgresError> {
        if self.is_over || self.process != std::process::id() {
            return Ok(());
        }
        self.is_over = true;
        self.belief.end();
        self.keeper.forget(self.lease);
        end_lease(&self.keeper.client, self.lease, self.is_doubtful)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // If nobody hears it, it runs out.
        let _ = self.end();
    }
}

fn end_lease(client: &Client, lease: i64, is_doubtful: bool) -> Result<(), PostgresError> {
    let parameters: &[(&(dyn tokio_postgres::types::ToSql + Sync), Type)] =
        &[(&lease, Type::INT8), (&is_doubtful, Type::BOOL)];
    // Somebody may wait for it, and all connections may be waiting with them.
    let answer = client.ask_at_once("SELECT {schema}.release($1, $2)", parameters);
    answer.map(|_| ())
}

/// A claim that is being tried.
struct Attempt {
    lease: i64,
    /// A question had no answer: the claim may be made, now or later.
    is_doubtful: bool,
    /// When the next lease of a device that would do runs out.
    runs_out: Option<Duration>,
    /// How often a slot went back, and somebody else had it.
    missed: u32,
}

impl Attempt {
    fn new() -> Self {
        Self {
            lease: unique_number(),
            is_doubtful: false,
            runs_out: None,
            missed: 0,
        }
    }
}

/// A machine that announces itself. It is gone from the cluster's list when this is dropped, or when its process has
/// been gone for the lease's time.
#[derive(Debug)]
pub struct Announcement {
    hold: Hold,
}

impl Announcement {
    /// Says it anew: memory and health change.
    ///
    /// # Errors
    /// As PostgreSQL fails; [`PostgresError::Answer`] when the machine was gone for too long, and has to be announced
    /// again.
    pub fn update(&self, devices: &[NodeDevice]) -> Result<(), PostgresError> {
        let text = serde_json::to_string(devices).unwrap_or_default();
        let rows = self.hold.keeper.client.ask(
            "UPDATE {schema}.nodes SET devices = $1 WHERE lease = $2 AND expires > clock_timestamp() \
             RETURNING node",
            &[(&text, Type::TEXT), (&self.hold.lease, Type::INT8)],
        )?;
        match rows.is_empty() {
            true => Err(PostgresError::Answer("the machine was gone".to_owned())),
            false => Ok(()),
        }
    }
}

impl PostgresSlots {
    /// Slots in that database. Asks it nothing yet.
    ///
    /// # Errors
    /// [`PostgresError::Address`] for what is no address, or no name of a schema.
    pub fn new(options: PostgresOptions) -> Result<Self, PostgresError> {
        let config: Config = options
            .address
            .parse()
            .map_err(|error: tokio_postgres::Error| PostgresError::Address(error.to_string()))?;
        let (schema, patience) = (&options.schema, options.patience);
        let client = Arc::new(Client::new(config, schema, patience, options.connections)?);
        Ok(Self {
            keeper: Arc::new(Keeper::new(Arc::clone(&client), options.lease)),
            client,
            listener: Arc::default(),
            options,
        })
    }

    /// The fencing token of a claim: it grows with each claim of a device, so that whoever is given the tokens can
    /// refuse an older one. None for a claim of another store.
    #[must_use]
    pub fn token(claim: &Claim) -> Option<u64> {
        let hold: &Hold = claim.hold_ref()?;
        Some(hold.token.unsigned_abs())
    }

    /// Lets nobody claim a device any more, until it is opened: a sick one (quarantine), or one that is to be free
    /// soon. Who holds a slot of it goes on holding it.
    ///
    /// # Errors
    /// As PostgreSQL fails.
    pub fn close(&self, device: &DeviceId, why: &str) -> Result<(), PostgresError> {
        self.set_closed(device, Some(why))
    }

    /// Lets a device be claimed again.
    ///
    /// # Errors
    /// As PostgreSQL fails.
    pub fn open(&self, device: &DeviceId) -> Result<(), PostgresError> {
        self.set_closed(device, None)
    }

    fn set_closed(&self, device: &DeviceId, why: Option<&str>) -> Result<(), PostgresError> {
        let device = device.to_string();
        let answer = self.client.ask(
            "SELECT {schema}.close($1, $2)",
            &[(&device, Type::TEXT), (&why, Type::TEXT)],
        );
        answer.map(|_| ())
    }

    /// Closes all devices of a machine: nothing begins there any more, and what is there ends by itself.
    ///
    /// # Errors
    /// As PostgreSQL fails; some may be closed then.
    pub fn drain(&self, devices: &[DeviceId]) -> Result<(), PostgresError> {
        remote::drain(&self.options.node, devices, |device, why| {
            self.close(device, why)
        })
    }

    /// Who holds which slot of a device, with the machine's name.
    ///
    /// # Errors
    /// As PostgreSQL fails.
    pub fn holders(&self, device: &DeviceId) -> Result<Vec<(String, SlotHolder)>, PostgresError> {
        let device = device.to_string();
        let mut view = state::read(&self.client, Some(&device))?;
        let slots = view.slots.remove(&device);
        Ok(slots.map(|slots| slots.holders).unwrap_or_default())
    }

    /// Machines, devices, and who holds what, all as of one moment.
    ///
    /// # Errors
    /// As PostgreSQL fails.
    pub fn cluster(&self) -> Result<ClusterView, PostgresError> {
        state::read(&self.client, None)
    }

    /// Says which devices this machine has, for [`PostgresSlots::cluster`]. One process of a machine is enough.
    ///
    /// # Errors
    /// As PostgreSQL fails; [`PostgresError::Answer`] for a machine without a name.
    pub fn announce(&self, devices: &[NodeDevice]) -> Result<Announcement, PostgresError> {
        let node = &self.options.node;
        if node.is_empty() {
            return Err(PostgresError::Answer("the machine has no name".to_owned()));
        }
        let text = serde_json::to_string(devices).unwrap_or_default();
        let (lease, asked) = (unique_number(), clock());
        self.client.ask(
            "INSERT INTO {schema}.nodes VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond', $4) \
             ON CONFLICT (node) DO UPDATE SET lease = $2, devices = $4, \
             expires = clock_timestamp() + $3 * interval '1 millisecond'",
            &[
                (node, Type::TEXT),
                (&lease, Type::INT8),
                (&milliseconds(self.options.lease), Type::FLOAT8),
                (&text, Type::TEXT),
            ],
        )?;
        let record = HolderRecord::beginning(node, 0);
        let hold = Hold::new(&self.keeper, lease, asked, record, false)?;
        Ok(Announcement { hold })
    }

    /// Waits until a slot goes back or a machine goes, while it waits. Whether one did; what runs out is not told.
    #[must_use]
    pub fn wait_for_ends(&self, most: Duration) -> bool {
        let since = self.listener.times(&self.client);
        self.listener.wait(since, most)
    }

    fn try_device(
        &self,
        request: &Request,
        wanted: &Wanted,
        attempt: &mut Attempt,
    ) -> Result<Tried, PostgresError> {
        let record = HolderRecord::beginning(&self.options.node, request.bytes);
        let asked = clock();
        let rows = self.claim(wanted, attempt, &record)?;
        let outcome: &str = cell(rows.first(), 0)?;
        match outcome {
            "taken" => self.taken(request, &rows, attempt, (asked, record)),
            "full" => {
                attempt.see(&rows)?;
                Ok(Tried::Full)
            }
            "memory" => {
                attempt.see(&rows)?;
                self.no_room(request, wanted).map(Tried::NoRoom)
            }
            "closed" => Ok(Tried::Closed(cell(rows.first(), 4)?)),
            "capacity" => Ok(Tried::Other(number(cell(rows.first(), 3)?)?)),
            "over" => {
                self.give_up(attempt);
                *attempt = Attempt::new();
                Ok(Tried::Again)
            }
            other => Err(PostgresError::Answer(other.to_owned())),
        }
    }

    /// Asks for a slot of a device under the attempt's lease.
    fn claim(
        &self,
        wanted: &Wanted,
        attempt: &Attempt,
        record: &HolderRecord,
    ) -> Result<Vec<Row>, PostgresError> {
        let device = wanted.device.to_string();
        self.client.ask(
            CLAIM,
            &[
                (&device, Type::TEXT),
                (&i64::from(wanted.slots), Type::INT8),
                (&wanted.budget_bytes.to_string(), Type::TEXT),
                (&attempt.lease, Type::INT8),
                (&milliseconds(self.options.lease), Type::FLOAT8),
                (&i64::from(first_slot(wanted.slots)), Type::INT8),
                (&record.node, Type::TEXT),
                (&i64::from(record.process), Type::INT8),
                (&record.bytes.to_string(), Type::TEXT),
                (&record.since.to_string(), Type::TEXT),
            ],
        )
    }

    /// The claim, of whatever device: one whose answer was lost is ours all the same.
    fn taken(
        &self,
        request: &Request,
        rows: &[Row],
        attempt: &Attempt,
        (asked, record): (Duration, HolderRecord),
    ) -> Result<Tried, PostgresError> {
        let row = rows.first();
        let (device, slot): (&str, i64) = (cell(row, 1)?, cell(row, 2)?);
        let mut devices = request.devices.iter().map(|wanted| wanted.device);
        let known = devices.find(|known| known.to_string() == device);
        let known = known.ok_or_else(|| PostgresError::Answer(device.to_owned()))?;
        let mut hold = Hold::new(
            &self.keeper,
            attempt.lease,
            asked,
            record,
            attempt.is_doubtful,
        )?;
        hold.token = cell(row, 3)?;
        Ok(Tried::Taken(Claim::new(known, number(slot)?, hold)))
    }

    fn no_room(&self, request: &Request, wanted: &Wanted) -> Result<SlotError, PostgresError> {
        let holders = self.holders(&wanted.device)?.into_iter();
        let holders: Vec<_> = holders.map(|(_, holder)| holder).collect();
        let claimed = holders.iter().map(|holder| holder.claimed_bytes);
        Ok(SlotError::Memory {
            device: wanted.device,
            asked_bytes: request.bytes,
            claimed_bytes: claimed.fold(0, u64::saturating_add),
            budget_bytes: wanted.budget_bytes,
            holders,
            waited: Duration::ZERO,
        })
    }

    /// Waits until a slot may be free: one went back, or a lease has run out.
    fn wait(&self, attempt: &mut Attempt, heard: u64, most: Duration) {
        let runs_out = attempt.runs_out.map_or(POLL, |left| left.max(LEAST));
        if self.listener.wait(heard, most.min(POLL).min(runs_out)) {
            thread::sleep(most.min(time_apart(attempt.missed)));
            attempt.missed += 1;
        }
    }

    /// Gives up: what may still be carried out makes no claim any more.
    fn give_up(&self, attempt: &Attempt) {
        if attempt.is_doubtful {
            // If nobody hears it, a claim that is made all the same runs out.
            let _ = end_lease(&self.client, attempt.lease, true);
        }
    }
}

impl Attempt {
    /// Sees when the next lease of a device runs out.
    fn see(&mut self, rows: &[Row]) -> Result<(), PostgresError> {
        let left: Option<f64> = cell(rows.first(), 5)?;
        if let Some(left) = left {
            let left = Duration::from_secs_f64(left.max(0.0) / 1000.0);
            self.runs_out = Some(self.runs_out.map_or(left, |known| known.min(left)));
        }
        Ok(())
    }
}

impl Drop for PostgresSlots {
    fn drop(&mut self) {
        self.listener.end();
    }
}

/// The tries of one claim.
struct Tries<'s> {
    store: &'s PostgresSlots,
    attempt: Attempt,
    /// What was heard of slots that go back, before it was looked.
    heard: u64,
}

impl Attempts for Tries<'_> {
    type Error = PostgresError;

    fn begin(&mut self, is_last: bool) {
        self.attempt.runs_out = None;
        if !is_last {
            self.heard = self.store.listener.times(&self.store.client);
        }
    }

    fn try_device(&mut self, request: &Request, wanted: &Wanted) -> Result<Tried, PostgresError> {
        self.store.try_device(request, wanted, &mut self.attempt)
    }

    fn is_open(&mut self, error: &PostgresError) -> bool {
        // What was not sent makes no claim.
        self.attempt.is_doubtful |= matches!(error, PostgresError::Unreachable(_));
        error.is_passing()
    }

    fn wait(&mut self, most: Duration) {
        self.store.wait(&mut self.attempt, self.heard, most);
    }

    fn give_up(&mut self) {
        self.store.give_up(&self.attempt);
    }
}

impl SlotStore for PostgresSlots {
    fn claim(&self, request: &Request, by: Deadline) -> Result<Claim, SlotError> {
        let tries = &mut Tries {
            store: self,
            attempt: Attempt::new(),
            heard: 0,
        };
        remote::claim(request, by, tries)
    }

    fn renew(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        let hold: &Hold = claim.hold_ref().ok_or(SlotError::OtherStore)?;
        let renewed = self.keeper.renew(hold.lease, &hold.belief);
        hold.belief.after(renewed, claim)
    }

    fn check(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        let hold: &Hold = claim.hold_ref().ok_or(SlotError::OtherStore)?;
        hold.belief.check(claim)
    }

    fn release(&self, claim: Claim) -> Result<(), SlotError> {
        let mut hold: Hold = claim.hold().ok_or(SlotError::OtherStore)?;
        hold.end().map_err(SlotError::from)
    }

    fn note_use(&self, claim: &mut Claim, time: Duration) -> Result<(), SlotError> {
        let (device, slot) = (claim.device, claim.slot);
        let hold: &mut Hold = claim.hold_mut().ok_or(SlotError::OtherStore)?;
        hold.record.add_use(time);
        let rows = self.client.ask(
            "UPDATE {schema}.slots SET used = $1::text::numeric \
             WHERE lease = $2 AND expires > clock_timestamp() RETURNING slot",
            &[
                (&hold.record.used.to_string(), Type::TEXT),
                (&hold.lease, Type::INT8),
            ],
        );
        match rows.map_err(SlotError::from)?.is_empty() {
            true => Err(SlotError::Lost { device, slot }),
            false => Ok(()),
        }
    }

    fn status(&self, device: &DeviceId) -> Result<SlotStatus, SlotError> {
        let device = device.to_string();
        let view = state::read(&self.client, Some(&device));
        let mut view = view.map_err(SlotError::from)?;
        let Some(slots) = view.slots.remove(&device) else {
            return Ok(SlotStatus::default());
        };
        let held = slots.holders.iter().map(|(_, holder)| holder.slot);
        Ok(SlotStatus {
            capacity: slots.capacity,
            held: held.collect(),
            claimed_bytes: slots.claimed_bytes,
        })
    }
}
