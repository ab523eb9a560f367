//! What etcd has of one device, at one revision. Keys, below a prefix of the program's choice:
//!
//! - `slots/DEVICE/capacity`: how many slots it has.
//! - `slots/DEVICE/held/NUMBER`: a slot that is held, under its holder's lease.
//! - `slots/DEVICE/ledger`: written by every claim of bytes, so that of two at once one comes second.
//! - `slots/DEVICE/closed`: why it takes no new claims.
//! - `claims/LEASE`: that a claim was made under this lease, as long as it is: a lease makes no second one.

use core_gpu::{driver::DeviceId, slots::remote::HolderRecord};
use serde_json::{Value, json};

use crate::client::{Client, EtcdError, decoded, encoded, end_of, number};

/// A slot that is held.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub slot: u32,
    pub lease: i64,
    /// The revision at which it was taken: its fencing token.
    pub token: i64,
    pub record: HolderRecord,
}

/// A device's slots at one revision.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The cluster's revision then.
    pub revision: i64,
    pub capacity: Option<u32>,
    /// Revisions at which the two were written last; zero where there is none.
    pub capacity_revision: i64,
    pub ledger_revision: i64,
    pub closed: Option<String>,
    pub held: Vec<Held>,
}

impl State {
    pub fn read(client: &Client, keys: &Keys) -> Result<Self, EtcdError> {
        let answer = client.ask("/v3/kv/range", &all_of(keys))?;
        Self::of(keys, &answer)
    }

    /// As an answer to a range says.
    pub fn of(keys: &Keys, answer: &Value) -> Result<Self, EtcdError> {
        let mut state = Self {
            revision: number(&answer["header"]["revision"]),
            ..Self::default()
        };
        for pair in answer["kvs"].as_array().into_iter().flatten() {
            state.take(keys, pair)?;
        }
        Ok(state)
    }

    fn take(&mut self, keys: &Keys, pair: &Value) -> Result<(), EtcdError> {
        let text = |value: &Value| {
            decoded(value).ok_or_else(|| EtcdError::Answer(format!("no text: {pair}")))
        };
        let (key, modified) = (text(&pair["key"])?, number(&pair["mod_revision"]));
        let value = decoded(&pair["value"]).unwrap_or_default();
        let foreign = || EtcdError::Answer(format!("{key} is not ours: {value:?}"));
        if key == keys.capacity {
            self.capacity = Some(value.parse().map_err(|_| foreign())?);
            self.capacity_revision = modified;
        } else if key == keys.ledger {
            self.ledger_revision = modified;
        } else if key == keys.closed {
            self.closed = Some(value);
        } else if let Some(slot) = key.strip_prefix(&keys.held) {
            self.held.push(Held {
                slot: slot.parse().map_err(|_| foreign())?,
                lease: number(&pair["lease"]),
                token: number(&pair["create_revision"]),
                record: serde_json::from_str(&value).map_err(|_| foreign())?,
            });
        }
        Ok(())
    }

    pub fn claimed_bytes(&self) -> u64 {
        let bytes = self.held.iter().map(|held| held.record.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    pub fn is_free(&self, slot: u32) -> bool {
        self.held.iter().all(|held| held.slot != slot)
    }
}

/// What asks for all keys of a device.
fn all_of(keys: &Keys) -> Value {
    json!({"key": encoded(&keys.all), "range_end": encoded(&end_of(&keys.all))})
}

/// The keys of a device.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub all: String,
    pub capacity: String,
    pub ledger: String,
    pub closed: String,
    pub held: String,
    claims: String,
}

impl Keys {
    pub fn of(prefix: &str, device: &DeviceId) -> Self {
        Self::named(prefix, &device.to_string())
    }

    /// Of the device with that identity.
    pub fn named(prefix: &str, device: &str) -> Self {
        let all = format!("{prefix}slots/{device}/");
        Self {
            capacity: format!("{all}capacity"),
            ledger: format!("{all}ledger"),
            closed: format!("{all}closed"),
            held: format!("{all}held/"),
            claims: format!("{prefix}claims/"),
            all,
        }
    }

    pub fn slot(&self, slot: u32) -> String {
        format!("{}{slot}", self.held)
    }

    pub fn claim(&self, lease: i64) -> String {
        format!("{}{lease}", self.claims)
    }
}

/// A condition: the key was never written, or is gone.
pub(crate) fn is_absent(key: &str) -> Value {
    json!({"key": encoded(key), "target": "CREATE", "create_revision": "0"})
}

/// A condition: no key begins with this.
pub(crate) fn none_below(prefix: &str) -> Value {
    json!({
        "key": encoded(prefix), "range_end": encoded(&end_of(prefix)),
        "target": "CREATE", "create_revision": "0",
    })
}

/// A condition: the key was written last at that revision; zero for one that is not there.
pub(crate) fn is_as_of(key: &str, revision: i64) -> Value {
    json!({"key": encoded(key), "target": "MOD", "mod_revision": revision.to_string()})
}

/// A condition: the key has that value.
pub(crate) fn has_value(key: &str, value: &str) -> Value {
    json!({"key": encoded(key), "target": "VALUE", "value": encoded(value)})
}

/// A condition: the key is as it was made at that revision.
pub(crate) fn is_created_at(key: &str, revision: i64) -> Value {
    json!({"key": encoded(key), "target": "CREATE", "create_revision": revision.to_string()})
}

/// Takes a key away.
pub(crate) fn delete(key: &str) -> Value {
    json!({"request_delete_range": {"key": encoded(key)}})
}

/// Writes a key, under a lease unless that is zero.
pub(crate) fn put(key: &str, value: &str, lease: i64) -> Value {
    json!({"request_put": {
        "key": encoded(key), "value": encoded(value), "lease": lease.to_string(),
    }})
}

/// What became of a transaction.
pub(crate) enum Done {
    /// It was carried out, at that revision.
    Written(i64),
    /// Its conditions did not hold.
    Refused(State),
}

/// All of it or nothing, where the conditions hold; else what there is of the device.
pub(crate) fn transact_or_read(
    client: &Client,
    keys: &Keys,
    conditions: &[Value],
    writes: &[Value],
) -> Result<Done, EtcdError> {
    let read = json!([{"request_range": all_of(keys)}]);
    let body = json!({"compare": conditions, "success": writes, "failure": read});
    let answer = client.ask_once("/v3/kv/txn", &body)?;
    let revision = number(&answer["header"]["revision"]);
    if answer["succeeded"].as_bool().unwrap_or(false) {
        return Ok(Done::Written(revision));
    }
    let mut state = State::of(keys, &answer["responses"][0]["response_range"])?;
    state.revision = revision;
    Ok(Done::Refused(state))
}

/// All of it or nothing, where the conditions hold. Whether they did.
pub(crate) fn transact(
    client: &Client,
    conditions: &[Value],
    writes: &[Value],
) -> Result<bool, EtcdError> {
    let body = json!({"compare": conditions, "success": writes});
    let answer = client.ask_once("/v3/kv/txn", &body)?;
    Ok(answer["succeeded"].as_bool().unwrap_or(false))
}

/// One write that comes to the same however often it is carried out: each member is asked in turn.
pub(crate) fn write(client: &Client, write: &Value) -> Result<(), EtcdError> {
    let body = json!({"success": [write]});
    client.ask("/v3/kv/txn", &body).map(|_| ())
}
