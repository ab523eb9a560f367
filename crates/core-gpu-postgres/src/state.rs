//! What there is, read with one question: of one device or of all, and what machines announce.

use core_gpu::slots::remote::{ClusterView, DeviceSlots, HolderRecord, NodeDevice};
use tokio_postgres::{Row, types::Type};

use crate::client::{Client, PostgresError, cell};

/// One row at least: what machines announce stands in each.
const ALL: &str = "
SELECT (SELECT json_object_agg(n.node, n.devices)::text FROM {schema}.nodes n
        WHERE n.expires > clock_timestamp()),
    d.device, d.capacity, d.closed, d.revision,
    s.slot, s.node, s.process, s.bytes::text, s.since::text, s.used::text
FROM (SELECT 1) AS one
LEFT JOIN {schema}.devices d ON ($1 IS NULL OR d.device = $1)
LEFT JOIN {schema}.slots s ON s.device = d.device AND s.expires > clock_timestamp()
ORDER BY d.device, s.slot";

/// A cluster, or what there is of one device in it.
pub(crate) fn read(client: &Client, device: Option<&str>) -> Result<ClusterView, PostgresError> {
    let rows = client.ask(ALL, &[(&device, Type::TEXT)])?;
    let mut view = ClusterView::default();
    let nodes: Option<String> = cell(rows.first(), 0)?;
    if let Some(text) = nodes {
        let nodes: std::collections::BTreeMap<String, String> = parsed(&text)?;
        for (node, text) in nodes {
            let devices: Vec<NodeDevice> = parsed(&text)?;
            view.nodes.insert(node, devices);
        }
    }
    for row in &rows {
        add_row(&mut view, row)?;
    }
    Ok(view)
}

/// What a row says: of a device, and of a slot of it, where there are such.
fn add_row(view: &mut ClusterView, row: &Row) -> Result<(), PostgresError> {
    let Some(device): Option<String> = cell(Some(row), 1)? else {
        return Ok(());
    };
    if !view.slots.contains_key(&device) {
        let revision: i64 = cell(Some(row), 4)?;
        view.revision += revision.unsigned_abs();
        view.slots.insert(device.clone(), device_of(row, &device)?);
    }
    let slot: Option<i64> = cell(Some(row), 5)?;
    if let (Some(slot), Some(slots)) = (slot, view.slots.get_mut(&device)) {
        slots.add(number(slot)?, &record(row)?);
    }
    Ok(())
}

fn device_of(row: &Row, device: &str) -> Result<DeviceSlots, PostgresError> {
    let capacity: Option<i64> = cell(Some(row), 2)?;
    Ok(DeviceSlots {
        device: device.to_owned(),
        capacity: capacity.map(number).transpose()?,
        closed: cell(Some(row), 3)?,
        ..DeviceSlots::default()
    })
}

fn record(row: &Row) -> Result<HolderRecord, PostgresError> {
    let large = |column| -> Result<u64, PostgresError> {
        let text: &str = cell(Some(row), column)?;
        text.parse()
            .map_err(|_| PostgresError::Answer(text.to_owned()))
    };
    let process: i64 = cell(Some(row), 7)?;
    Ok(HolderRecord {
        node: cell(Some(row), 6)?,
        process: number(process)?,
        bytes: large(8)?,
        since: large(9)?,
        used: large(10)?,
    })
}

/// A number of ours, which the server keeps as a longer one.
pub(crate) fn number(value: i64) -> Result<u32, PostgresError> {
    u32::try_from(value).map_err(|_| PostgresError::Answer(value.to_string()))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, PostgresError> {
    serde_json::from_str(text).map_err(|error| PostgresError::Answer(error.to_string()))
}
