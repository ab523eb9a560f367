//! The page of `devices`: platforms with reasons, and a table of devices.

use anstyle::Style;
use coalesce_model::envelope::{
    ClusterEntry, DeviceEntry, Devices, HealthEntry, NodeDeviceEntry, PlatformEntry,
    SlotHolderEntry, SlotsEntry,
};

use crate::page::{BAD, BOLD, DIM, GOOD, PLAIN, Page, WARN, count};

/// Reasons that mean that something is wrong, and not only missing.
const WRONG: &[&str] = &[
    "symbol-missing",
    "driver-too-old",
    "permission",
    "hung",
    "failed",
    "panicked",
    "ended",
];

/// Writes the page.
pub fn write(page: &mut Page, devices: &Devices) {
    if let Some(cluster) = &devices.cluster {
        return write_cluster(page, cluster);
    }
    for platform in &devices.platforms {
        write_platform(page, platform);
    }
    page.gap();
    let rows: Vec<[String; 8]> = devices.devices.iter().map(row).collect();
    write_rows(page, &HEADINGS, &rows, &devices.recommended);
    for device in &devices.devices {
        write_words(page, device);
    }
    if page.quiet() {
        return;
    }
    page.gap();
    page.line(format_args!(
        "host memory: {} of {} available",
        amount(devices.host.available_bytes),
        amount(devices.host.total_bytes),
    ));
    page.line(format_args!(
        "{}; take {} where nothing speaks for another",
        count(devices.devices.len(), "device"),
        devices.recommended,
    ));
}

const CLUSTER_HEADINGS: [&str; 8] = [
    "machine", "device", "memory", "free", "claimed", "slots", "health", "model",
];

/// The page of several machines: a table of all devices, and who holds which slot.
fn write_cluster(page: &mut Page, cluster: &ClusterEntry) {
    let all = || {
        let nodes = cluster.nodes.iter();
        nodes.flat_map(|node| {
            let name = node.name.as_deref().unwrap_or("(nobody)");
            node.devices.iter().map(move |device| (name, device))
        })
    };
    let rows: Vec<[String; 8]> = all()
        .map(|(node, device)| cluster_row(node, device))
        .collect();
    write_rows(page, &CLUSTER_HEADINGS, &rows, "");
    for (node, device) in all() {
        write_holders(page, node, device);
    }
    if page.quiet() {
        return;
    }
    page.gap();
    let announced = cluster.nodes.iter().filter(|node| node.name.is_some());
    page.line(format_args!(
        "{}, {}; at revision {}",
        count(announced.count(), "machine"),
        count(rows.len(), "device"),
        cluster.revision,
    ));
}

fn cluster_row(node: &str, device: &NodeDeviceEntry) -> [String; 8] {
    let name = match device.name.as_str() {
        "" => &device.id,
        name => name,
    };
    let health = match (&device.closed, &device.sick) {
        (Some(_), _) => "closed",
        (None, Some(sick)) if !sick.is_empty() => "sick",
        (None, Some(_)) => "well",
        (None, None) => "",
    };
    [
        node.to_owned(),
        name.to_owned(),
        amount(device.total_bytes),
        amount(device.free_bytes),
        amount(Some(device.claimed_bytes)),
        device.capacity.map_or_else(
            || "unused".to_owned(),
            |capacity| format!("{}/{capacity}", device.holders.len()),
        ),
        health.to_owned(),
        device.model.clone(),
    ]
}

fn write_holders(page: &mut Page, node: &str, device: &NodeDeviceEntry) {
    let name = match device.name.as_str() {
        "" => device.id.clone(),
        name => format!("{node} {name}"),
    };
    if let Some(why) = &device.closed {
        page.put(WARN, &name)
            .put(PLAIN, format_args!(": takes no claims: {why}"))
            .end();
    }
    for word in device.sick.iter().flatten() {
        page.put(BAD, &name)
            .put(PLAIN, format_args!(": {word}"))
            .end();
    }
    for held_by in &device.holders {
        let holder = &held_by.holder;
        let process = holder.process;
        let process = process.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let said = format_args!(
            ": slot {} is held by {}, process {process}{}",
            holder.slot,
            held_by.node,
            held(holder),
        );
        page.put(PLAIN, &name).put(PLAIN, said).end();
    }
}

fn write_platform(page: &mut Page, platform: &PlatformEntry) {
    match &platform.unavailable {
        None => page.put(GOOD, "there  "),
        Some(reason) if WRONG.contains(&reason.code.as_str()) => page.put(BAD, "broken "),
        Some(_) => page.put(DIM, "absent "),
    };
    page.put(BOLD, format_args!(" {:<6}", platform.name));
    if let Some(reason) = &platform.unavailable {
        page.put(PLAIN, format_args!("  {}", reason.why));
    } else {
        page.put(
            PLAIN,
            format_args!("  {}", count(platform.devices, "device")),
        );
        if let Some(version) = platform.version {
            page.put(DIM, format_args!(", version {version}"));
        }
    }
    page.end();
}

/// Who is on a device, and what is wrong with it, in words.
fn write_words(page: &mut Page, device: &DeviceEntry) {
    for process in device.processes.iter().flatten() {
        let bytes = amount(process.used_bytes);
        let said = format_args!(": process {} holds {bytes}", process.process);
        page.put(PLAIN, &device.name).put(PLAIN, said).end();
    }
    for holder in device.slots.iter().flat_map(|slots| &slots.holders) {
        let process = holder.process;
        let process = process.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let said = format_args!(": slot {} is held by process {process}", holder.slot);
        let more = held(holder);
        page.put(PLAIN, &device.name)
            .put(PLAIN, said)
            .put(PLAIN, more)
            .end();
    }
    let Some(health) = &device.health else { return };
    let sick = health.sick.iter().map(|word| (BAD, word));
    let notices = health.notices.iter().map(|word| (WARN, word));
    for (style, word) in sick.chain(notices) {
        page.put(style, &device.name)
            .put(PLAIN, format_args!(": {word}"))
            .end();
    }
}

/// How long a slot is held beside how long it is used, and what it claims, as far as its holder says.
fn held(holder: &SlotHolderEntry) -> String {
    let mut said = String::new();
    if let Some(seconds) = holder.held_seconds {
        let held = seconds.saturating_mul(1000).max(1);
        let busy = holder.used_milliseconds.min(held) * 100 / held;
        said = format!(
            " for {}, used for {} of it ({busy}%)",
            time(seconds),
            time(holder.used_milliseconds.min(held) / 1000)
        );
    }
    if holder.claimed_bytes > 0 {
        said = format!("{said}, and claims {}", amount(Some(holder.claimed_bytes)));
    }
    said
}

/// Seconds as a person reads them.
fn time(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

const HEADINGS: [&str; 8] = [
    "device", "memory", "free", "others", "slots", "use", "health", "model",
];

fn row(device: &DeviceEntry) -> [String; 8] {
    [
        device.name.clone(),
        amount(device.total_bytes),
        amount(device.free_bytes),
        amount(device.others_bytes),
        device.slots.as_ref().map_or_else(String::new, slots),
        device.health.as_ref().map_or_else(String::new, figures),
        device.health.as_ref().map_or_else(String::new, health),
        device.model.clone(),
    ]
}

fn health(health: &HealthEntry) -> String {
    // What is worth a word is below the table; nobody should read "well" and stop there.
    let word = match (health.sick.is_empty(), health.notices.is_empty()) {
        (false, _) => "sick",
        (true, false) => "see below",
        (true, true) => "well",
    };
    word.to_owned()
}

/// What a device does at the moment, as far as it tells.
fn figures(health: &HealthEntry) -> String {
    let used = health
        .utilization_percent
        .map(|percent| format!("{percent}%"));
    let degrees = health
        .temperature_celsius
        .map(|degrees| format!("{degrees}°C"));
    let power = health
        .power_milliwatts
        .map(|power| format!("{}W", power / 1000));
    let figures: Vec<_> = [used, degrees, power].into_iter().flatten().collect();
    figures.join(" ")
}

fn slots(slots: &SlotsEntry) -> String {
    match (&slots.error, slots.capacity) {
        (Some(_), _) => "unreadable".to_owned(),
        (None, Some(capacity)) => format!("{}/{capacity}", slots.held.len()),
        (None, None) => "unused".to_owned(),
    }
}

fn write_rows(page: &mut Page, headings: &[&str; 8], rows: &[[String; 8]], recommended: &str) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let heading = headings.get(column).map_or(0, |heading| heading.len());
        cells
            .map(|cell| cell.chars().count())
            .fold(heading, usize::max)
    };
    let widths: Vec<_> = (0..headings.len()).map(width).collect();
    for (heading, width) in headings.iter().zip(&widths) {
        page.put(DIM, format_args!("{heading:<width$}  "));
    }
    page.end();
    for row in rows {
        let [name, others @ .., last] = row;
        let name_style = if name == recommended { GOOD } else { PLAIN };
        let styles = std::iter::once(name_style).chain(others.iter().map(|cell| cell_style(cell)));
        for ((cell, style), width) in row.iter().zip(styles).zip(&widths) {
            page.put(style, format_args!("{cell:<width$}  "));
        }
        // Nothing stands behind the last cell.
        page.put(cell_style(last), last).end();
    }
}

fn cell_style(cell: &str) -> Style {
    match cell {
        "unreadable" | "see below" | "closed" => WARN,
        "sick" => BAD,
        _ => PLAIN,
    }
}

/// An amount of bytes as a person reads it.
fn amount(bytes: Option<u64>) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let Some(bytes) = bytes else {
        return "unknown".to_owned();
    };
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    if unit == 0 {
        format!("{bytes} {name}")
    } else {
        format!("{value:.1} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_a_slot_says_how_long_and_how_busy() {
        let holder = |held_seconds, used_milliseconds, claimed_bytes| SlotHolderEntry {
            held_seconds,
            used_milliseconds,
            claimed_bytes,
            ..SlotHolderEntry::default()
        };
        for (holder, wanted) in [
            (holder(None, 0, 0), ""),
            (holder(Some(0), 0, 0), " for 0 s, used for 0 s of it (0%)"),
            (
                holder(Some(1500), 45_000, 1 << 30),
                " for 25 min, used for 45 s of it (3%), and claims 1.0 GiB",
            ),
            // A clock that was put back: never more than all of it.
            (
                holder(Some(7200), u64::MAX, 0),
                " for 2 h 0 min, used for 2 h 0 min of it (100%)",
            ),
            (holder(None, 9, 512), ", and claims 512 B"),
        ] {
            assert_eq!(held(&holder), wanted);
        }
    }

    #[test]
    fn amounts_are_short() {
        let cases = [
            (None, "unknown"),
            (Some(0), "0 B"),
            (Some(1023), "1023 B"),
            (Some(1 << 20), "1.0 MiB"),
            (Some(80 << 30), "80.0 GiB"),
            (Some(u64::MAX), "16777216.0 TiB"),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(amount(bytes), wanted);
        }
    }
}
