//! What etcd has of one device, at one revision. Keys, below a prefix of the program's choice:
//!
//! - `slots/DEVICE/capacity`: how many slots it has.
//! - `slots/DEVICE/held/NUMBER`: a slot that is held, under its holder's lease.
//! - `slots/DEVICE/ledger`: written by every claim of bytes, so that of two at once one comes second.
//! - `slots/DEVICE/closed`: why it takes no new claims.

use core_gpu::driver::DeviceId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{Client, EtcdError, decoded, encoded, end_of, number};

/// What a holder says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The machine that it runs on.
    pub node: String,
    /// Its process there.
    pub process: u32,
    /// Bytes that it claims.
    pub bytes: u64,
    /// When it took the slot, in milliseconds since 1970, by its own clock.
    pub since: u64,
    /// Time that the device worked for it, in microseconds.
    pub used: u64,
}

/// A slot that is held.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub slot: u32,
    pub lease: i64,
    /// The revision at which it was taken: its fencing token.
    pub token: i64,
    pub record: Record,
}

/// A device's slots at one revision.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub capacity: Option<u32>,
    /// Revisions at which the two were written last; zero where there is none.
    pub capacity_revision: i64,
    pub ledger_revision: i64,
    pub closed: Option<String>,
    pub held: Vec<Held>,
}

impl State {
    pub fn read(client: &Client, keys: &Keys) -> Result<Self, EtcdError> {
        let body = json!({"key": encoded(&keys.all), "range_end": encoded(&end_of(&keys.all))});
        let answer = client.ask("/v3/kv/range", &body)?;
        let mut state = Self::default();
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

/// The keys of a device.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub all: String,
    pub capacity: String,
    pub ledger: String,
    pub closed: String,
    pub held: String,
}

impl Keys {
    pub fn of(prefix: &str, device: &DeviceId) -> Self {
        let all = format!("{prefix}slots/{device}/");
        Self {
            capacity: format!("{all}capacity"),
            ledger: format!("{all}ledger"),
            closed: format!("{all}closed"),
            held: format!("{all}held/"),
            all,
        }
    }

    pub fn slot(&self, slot: u32) -> String {
        format!("{}{slot}", self.held)
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

/// Writes a key, under a lease unless that is zero.
pub(crate) fn put(key: &str, value: &str, lease: i64) -> Value {
    json!({"request_put": {
        "key": encoded(key), "value": encoded(value), "lease": lease.to_string(),
    }})
}

/// All of it or nothing, where the conditions hold. Whether they did, and the revision.
pub(crate) fn transact(
    client: &Client,
    conditions: &[Value],
    writes: &[Value],
) -> Result<(bool, i64), EtcdError> {
    let body = json!({"compare": conditions, "success": writes});
    let answer = client.ask_once("/v3/kv/txn", &body)?;
    let succeeded = answer["succeeded"].as_bool().unwrap_or(false);
    Ok((succeeded, number(&answer["header"]["revision"])))
}
