//! What machines say of their devices, and a whole cluster at one revision. One more key below the prefix:
//! `nodes/NODE`, under the lease of whoever announces that machine.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use core_gpu::slots::remote::{ClusterView, DeviceSlots, NodeDevice};
use serde_json::{Value, json};

use crate::{
    client::{Client, EtcdError, decoded, encoded, end_of, number},
    lease::Lease,
    slots::EtcdSlots,
    state::{Keys, State, put, write},
    watch::Seen,
};

/// A machine that announces itself. It is gone from the cluster's list when this is dropped, or when its
/// process has been gone for the lease's time.
#[derive(Debug)]
pub struct Announcement {
    client: Arc<Client>,
    key: String,
    lease: Lease,
}

impl Announcement {
    /// Says it anew: memory and health change.
    ///
    /// # Errors
    /// As etcd fails; [`EtcdError::is_not_found`] when the machine was gone for too long, and has to be
    /// announced again.
    pub fn update(&self, devices: &[NodeDevice]) -> Result<(), EtcdError> {
        let text = serde_json::to_string(devices).unwrap_or_default();
        write(&self.client, &put(&self.key, &text, self.lease.id))
    }
}

impl EtcdSlots {
    /// Says which devices this machine has, for [`EtcdSlots::cluster`]. One process of a machine is enough.
    ///
    /// # Errors
    /// As etcd fails; [`EtcdError::Answer`] for a machine without a name.
    pub fn announce(&self, devices: &[NodeDevice]) -> Result<Announcement, EtcdError> {
        let node = &self.options().node;
        if node.is_empty() {
            return Err(EtcdError::Answer("the machine has no name".to_owned()));
        }
        self.look_at_version();
        let announcement = Announcement {
            client: Arc::clone(self.client()),
            key: format!("{}nodes/{node}", self.options().prefix),
            lease: Lease::grant(self.client(), self.options().lease)?,
        };
        announcement.update(devices)?;
        Ok(announcement)
    }

    /// Machines, devices, and who holds what, all as of one moment.
    ///
    /// # Errors
    /// As etcd fails; [`EtcdError::Answer`] for keys below the prefix that are not ours.
    pub fn cluster(&self) -> Result<ClusterView, EtcdError> {
        let prefix = &self.options().prefix;
        let body = json!({"key": encoded(prefix), "range_end": encoded(&end_of(prefix))});
        let answer = self.client().ask("/v3/kv/range", &body)?;
        let mut view = ClusterView {
            revision: number(&answer["header"]["revision"]).unsigned_abs(),
            ..ClusterView::default()
        };
        let mut of_devices: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for pair in answer["kvs"].as_array().into_iter().flatten() {
            let key = decoded(&pair["key"]).unwrap_or_default();
            let rest = key.strip_prefix(prefix.as_str()).unwrap_or_default();
            if let Some(node) = rest.strip_prefix("nodes/") {
                let text = decoded(&pair["value"]).unwrap_or_default();
                let said = serde_json::from_str(&text);
                let devices = said.map_err(|_| EtcdError::Answer(format!("{key}: {text}")))?;
                view.nodes.insert(node.to_owned(), devices);
            } else if let Some((device, _)) = rest
                .strip_prefix("slots/")
                .and_then(|rest| rest.split_once('/'))
            {
                of_devices
                    .entry(device.to_owned())
                    .or_default()
                    .push(pair.clone());
            }
        }
        for (device, pairs) in of_devices {
            let keys = Keys::named(prefix, &device);
            let state = State::of(&keys, &json!({"kvs": pairs}))?;
            view.slots.insert(device.clone(), slots_of(device, state));
        }
        Ok(view)
    }

    /// Waits until a slot goes back or a machine goes, after a revision that was seen. Whether one did;
    /// also where etcd does not keep what happened since, so that one has to look anew.
    ///
    /// # Errors
    /// As etcd fails, and at once where this user may not watch.
    pub fn wait_for_ends(&self, after: u64, most: Duration) -> Result<bool, EtcdError> {
        let (prefix, after) = (&self.options().prefix, after.cast_signed());
        let seen = self.client().watch_for_ends(prefix, after, most)?;
        Ok(seen != Seen::Nothing)
    }
}

fn slots_of(device: String, state: State) -> DeviceSlots {
    let mut slots = DeviceSlots {
        device,
        capacity: state.capacity,
        closed: state.closed,
        ..DeviceSlots::default()
    };
    for held in &state.held {
        slots.add(held.slot, &held.record);
    }
    slots.holders.sort_by_key(|(_, holder)| holder.slot);
    slots
}
