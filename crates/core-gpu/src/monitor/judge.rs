//! The monitor: looks, remembers, and takes devices out of use and back.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use core_gpu_driver::DeviceId;

use super::{
    HealthSource, Look, Quarantine, Raised,
    condition::{Condition, HealthLimits, Notice, Vital, notices},
};

/// What is known of a device's health.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DeviceHealth {
    /// How it was when it last told.
    pub vital: Option<Vital>,
    /// What is wrong with it; empty for one that is well.
    pub conditions: Vec<Condition>,
    /// What is worth a word, of the last look.
    pub notices: Vec<Notice>,
    /// Whether it is out of use.
    pub quarantined: bool,
    /// Looks in a row that found it well.
    pub well_looks: u32,
    /// What went wrong with taking it out of use or back.
    pub refusal: Option<String>,
}

impl DeviceHealth {
    /// Whether nothing is wrong with it, nothing is worth a word, and it is in use. One that nobody
    /// could ask is not called well.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let silent = self.conditions.is_empty() && self.notices.is_empty();
        silent && !self.quarantined && self.vital.is_some()
    }
}

/// Looks after devices. One thread at a time.
pub struct Monitor {
    source: Box<dyn HealthSource>,
    quarantine: Arc<dyn Quarantine>,
    limits: HealthLimits,
    devices: BTreeMap<DeviceId, DeviceHealth>,
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor")
            .field("limits", &self.limits)
            .field("devices", &self.devices)
            .finish_non_exhaustive()
    }
}

impl Monitor {
    /// Looks at `source`, and tells `quarantine`.
    #[must_use]
    pub fn new(
        source: impl HealthSource + 'static,
        quarantine: Arc<dyn Quarantine>,
        limits: HealthLimits,
    ) -> Self {
        Self {
            source: Box::new(source),
            quarantine,
            limits,
            devices: BTreeMap::new(),
        }
    }

    /// What is known, as of the last look.
    #[must_use]
    pub fn devices(&self) -> &BTreeMap<DeviceId, DeviceHealth> {
        &self.devices
    }

    /// Looks at all devices once, after waiting so long for an error to be raised. A device that is
    /// found sick is taken out of use before this returns.
    pub fn look(&mut self, wait: Duration) -> &BTreeMap<DeviceId, DeviceHealth> {
        let raised = self.source.raised(wait);
        let looks = self.source.look();
        for health in self.devices.values_mut() {
            health.notices.clear();
        }
        let mut found: BTreeMap<DeviceId, Vec<Condition>> = BTreeMap::new();
        for one in raised {
            self.hear(one, &mut found);
        }
        let mut seen = Vec::new();
        for (device, look) in looks {
            seen.push((device, !matches!(look, Look::Unknown { .. })));
            let health = self.devices.entry(device).or_default();
            found
                .entry(device)
                .or_default()
                .extend(self.limits.take_in(health, look));
        }
        for (device, conditions) in found {
            let told = seen.iter().any(|(id, told)| *id == device && *told);
            self.settle(device, conditions, told);
        }
        &self.devices
    }

    fn hear(&mut self, one: Raised, found: &mut BTreeMap<DeviceId, Vec<Condition>>) {
        let health = self.devices.entry(one.device).or_default();
        let xid = one.xid;
        if self.limits.critical.contains(&xid) {
            let conditions = found.entry(one.device).or_default();
            conditions.push(Condition::Critical { xid });
        } else {
            health.notices.push(Notice::Raised { xid });
        }
    }

    /// What follows for a device from what was found now. One that did not tell is neither sick nor
    /// well for that.
    fn settle(&mut self, device: DeviceId, conditions: Vec<Condition>, told: bool) {
        let health = self.devices.entry(device).or_default();
        if !conditions.is_empty() {
            health.conditions = conditions;
            health.well_looks = 0;
            let why: Vec<_> = health.conditions.iter().map(ToString::to_string).collect();
            // Told anew each time: the reasons may have changed.
            let done = self.quarantine.quarantine(&device, &why.join("; "));
            health.quarantined |= done.is_ok();
            health.refusal = done.err();
            return;
        }
        if !told {
            return;
        }
        health.well_looks = health.well_looks.saturating_add(1);
        if !health.quarantined || health.well_looks < self.limits.well_looks {
            return;
        }
        match self.quarantine.readmit(&device) {
            Ok(()) => {
                health.quarantined = false;
                health.conditions.clear();
                health.refusal = None;
            }
            Err(why) => health.refusal = Some(why),
        }
    }
}

impl HealthLimits {
    fn take_in(&self, health: &mut DeviceHealth, look: Look) -> Vec<Condition> {
        match look {
            Look::Lost => vec![Condition::Lost],
            Look::Unknown { why } => {
                health.notices.push(Notice::Unknown { why });
                Vec::new()
            }
            Look::Vital(vital) => {
                let before = health.vital.as_ref();
                let is_first = before.is_none();
                let before = before.and_then(|before| before.uncorrected_errors);
                let conditions = self.judge(&vital, before);
                health.notices.extend(notices(&vital, is_first));
                health.vital = Some(vital);
                conditions
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use core_gpu_driver::PlatformKind;

    use super::*;

    fn device(number: u8) -> DeviceId {
        DeviceId {
            platform: PlatformKind::Simulated,
            uuid: [number; 16],
        }
    }

    /// Says at each look what stands next in the script, the last for good.
    struct Script {
        looks: Vec<(Look, &'static [u64])>,
        at: usize,
    }

    impl Script {
        fn now(&self) -> &(Look, &'static [u64]) {
            let last = self.looks.len() - 1;
            &self.looks[self.at.min(last)]
        }
    }

    impl HealthSource for Script {
        fn look(&mut self) -> Vec<(DeviceId, Look)> {
            let look = self.now().0.clone();
            self.at += 1;
            vec![(device(1), look), (device(2), well())]
        }

        fn raised(&mut self, _within: Duration) -> Vec<Raised> {
            let raised = self.now().1.iter();
            let device = device(1);
            raised.map(|xid| Raised { device, xid: *xid }).collect()
        }
    }

    #[derive(Default)]
    struct Log(Mutex<Vec<String>>);

    impl Quarantine for Log {
        fn quarantine(&self, device: &DeviceId, why: &str) -> Result<(), String> {
            let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            log.push(format!("{} out: {why}", device.uuid[0]));
            Ok(())
        }

        fn readmit(&self, device: &DeviceId) -> Result<(), String> {
            let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            log.push(format!("{} back", device.uuid[0]));
            Ok(())
        }
    }

    fn well() -> Look {
        Look::Vital(Vital {
            temperature_celsius: Some(50),
            slowdown_celsius: Some(90),
            uncorrected_errors: Some(2),
            row_remap_failed: Some(false),
            ..Vital::default()
        })
    }

    fn with(change: impl FnOnce(&mut Vital)) -> Look {
        let Look::Vital(mut vital) = well() else {
            unreachable!()
        };
        change(&mut vital);
        Look::Vital(vital)
    }

    /// Looks as often as the script is long and five times more, and gives what was done.
    fn follow(looks: Vec<(Look, &'static [u64])>) -> (Vec<String>, DeviceHealth) {
        let times = looks.len() + 5;
        let log = Arc::new(Log::default());
        let script = Script { looks, at: 0 };
        let mut monitor = Monitor::new(script, Arc::clone(&log) as _, HealthLimits::default());
        for _ in 0..times {
            monitor.look(Duration::ZERO);
        }
        let health = monitor.devices()[&device(1)].clone();
        let said = std::mem::take(&mut *log.0.lock().unwrap());
        (said, health)
    }

    #[test]
    fn the_sick_go_and_come_back_when_they_have_been_well_for_a_while() {
        let hot = with(|vital| vital.temperature_celsius = Some(91));
        type Script = Vec<(Look, &'static [u64])>;
        let cases: Vec<(Script, &[&str])> = vec![
            (vec![(well(), &[])], &[]),
            (
                vec![(well(), &[79]), (Look::Lost, &[]), (well(), &[])],
                &[
                    "1 out: XID 79: the device has fallen off the bus",
                    "1 out: the device is lost",
                    "1 back",
                ],
            ),
            (
                vec![(Look::Lost, &[79])],
                &["1 out: XID 79: the device has fallen off the bus; the device is lost"],
            ),
            (
                vec![(hot, &[]), (well(), &[])],
                &["1 out: 91 degrees, 90 are allowed", "1 back"],
            ),
            (
                vec![
                    (well(), &[]),
                    (with(|vital| vital.uncorrected_errors = Some(5)), &[]),
                ],
                &[
                    "1 out: 3 new errors of memory that were not put right",
                    "1 back",
                ],
            ),
            // A program's own fault, a pending remap, and an unreadable device take nobody away.
            (vec![(well(), &[13, 31, 43]), (well(), &[])], &[]),
            (
                vec![(with(|vital| vital.row_remap_pending = Some(true)), &[])],
                &[],
            ),
            (
                vec![(
                    Look::Unknown {
                        why: "busy".to_owned(),
                    },
                    &[],
                )],
                &[],
            ),
        ];
        for (script, wanted) in cases {
            let (mut said, _) = follow(script.clone());
            said.dedup();
            assert_eq!(said, wanted, "{script:?}");
        }
    }

    #[test]
    fn what_never_heals_stays_out() {
        let failed = with(|vital| vital.row_remap_failed = Some(true));
        let (said, health) = follow(vec![(failed, &[])]);
        assert!(
            said.iter()
                .all(|said| said.contains("could not be replaced"))
        );
        assert!(health.quarantined);
        assert_eq!(health.conditions, [Condition::RowRemapFailed]);
    }

    #[test]
    fn one_that_does_not_tell_does_not_come_back_for_it() {
        let silent = Look::Unknown {
            why: "busy".to_owned(),
        };
        let (said, health) = follow(vec![(well(), &[79]), (silent, &[])]);
        assert_eq!(said.len(), 1);
        assert!(health.quarantined);
        assert!(matches!(health.notices[..], [Notice::Unknown { .. }]));
    }

    #[test]
    fn old_errors_of_memory_are_said_at_the_first_look() {
        for (errors, wanted) in [(0, None), (1, Some(1)), (7, Some(7))] {
            let look = with(|vital| vital.uncorrected_errors = Some(errors));
            let script = Script {
                looks: vec![(look, &[])],
                at: 0,
            };
            let log = Arc::new(Log::default());
            let mut monitor = Monitor::new(script, Arc::clone(&log) as _, HealthLimits::default());
            let health = monitor.look(Duration::ZERO)[&device(1)].clone();
            let told: Vec<_> = wanted
                .map(|since_start| Notice::UncorrectedErrors { since_start })
                .into_iter()
                .collect();
            assert_eq!(health.notices, told);
            assert_eq!(health.is_well(), errors == 0);
            assert!(
                log.0.lock().unwrap().is_empty(),
                "nobody knows when they were"
            );
        }
    }

    #[test]
    fn what_slows_a_device_down_is_said() {
        let slow = with(|vital| vital.throttling = Some(0x04 | 0x40));
        let (said, health) = follow(vec![(slow, &[])]);
        assert!(said.is_empty());
        let reasons = vec!["its temperature, by the hardware"];
        assert_eq!(health.notices, [Notice::Throttled { reasons }]);
    }
}
