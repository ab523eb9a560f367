//! Items spread over devices, each device a range, all items given out.

use std::ops::Range;

use core_gpu_driver::DeviceId;

use crate::platform::DeviceName;

use super::{DeviceUsage, ManagerError};

/// By what work is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitBy {
    /// By all memory that each device has.
    #[default]
    Capacity,
    /// By the memory that is free on each now.
    FreeMemory,
    /// As many for each.
    Count,
}

/// One device's part.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Share {
    /// Its name.
    pub name: DeviceName,
    /// Which device.
    pub device: DeviceId,
    /// Its items. Some devices may get none.
    pub items: Range<usize>,
}

pub fn split(
    items: usize,
    devices: &[DeviceUsage],
    by: SplitBy,
) -> Result<Vec<Share>, ManagerError> {
    if devices.is_empty() {
        return Err(ManagerError::NoDevice);
    }
    let weights: Result<Vec<u64>, _> = devices
        .iter()
        .map(|device| {
            let weight = match by {
                SplitBy::Capacity => device.total_bytes,
                SplitBy::FreeMemory => device.free_bytes,
                SplitBy::Count => Some(1),
            };
            weight.ok_or_else(|| ManagerError::UnknownMemory {
                device: device.name.to_string(),
            })
        })
        .collect();
    let counts = counts(items, &weights?);
    let mut next = 0;
    let shares = devices.iter().zip(counts).map(|(device, count)| {
        let start = next;
        next += count;
        Share {
            name: device.name.clone(),
            device: device.id,
            items: start..next,
        }
    });
    Ok(shares.collect())
}

/// As many for each as its weight says, whole numbers that add up: what rounding leaves over goes to
/// those that lost most by it, the first of equals.
fn counts(items: usize, weights: &[u64]) -> Vec<usize> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let equal = vec![1; weights.len()];
    let (weights, sum) = match sum {
        // Nobody has any: all are equal.
        0 => (&equal[..], weights.len() as u128),
        sum => (weights, sum),
    };
    let exact = |weight: u64| items as u128 * u128::from(weight);
    let mut counts: Vec<usize> = weights
        .iter()
        .map(|weight| (exact(*weight) / sum) as usize)
        .collect();
    let mut by_loss: Vec<usize> = (0..weights.len()).collect();
    by_loss.sort_by_key(|at| std::cmp::Reverse(exact(weights[*at]) % sum));
    let left = items - counts.iter().sum::<usize>();
    for at in by_loss.into_iter().take(left) {
        counts[at] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_follow_the_weights() {
        let cases: &[(usize, &[u64], &[usize])] = &[
            (10, &[1], &[10]),
            (10, &[1, 1], &[5, 5]),
            (10, &[3, 1], &[8, 2]),
            (10, &[1, 1, 1], &[4, 3, 3]),
            (7, &[80 << 30, 80 << 30, 40 << 30], &[3, 3, 1]),
            (2, &[1, 1, 1, 1], &[1, 1, 0, 0]),
            (0, &[1, 2], &[0, 0]),
            (5, &[0, 0], &[3, 2]),
            (5, &[0, 9], &[0, 5]),
            (
                usize::MAX,
                &[u64::MAX, u64::MAX],
                &[usize::MAX / 2 + 1, usize::MAX / 2],
            ),
        ];
        for (items, weights, wanted) in cases {
            assert_eq!(counts(*items, weights), *wanted, "{items} {weights:?}");
        }
    }

    #[test]
    fn any_weights_give_everything_out() {
        let mut seed = 7_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 33
        };
        for _ in 0..2_000 {
            let weights: Vec<u64> = (0..1 + next() % 9).map(|_| next() % 100).collect();
            let items = (next() % 1_000) as usize;
            let counts = counts(items, &weights);
            assert_eq!(counts.iter().sum::<usize>(), items, "{weights:?}");
            let sum: u64 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(&weights) {
                if sum > 0 {
                    let exact = items as f64 * *weight as f64 / sum as f64;
                    assert!((*count as f64 - exact).abs() < 1.0, "{weights:?}");
                }
            }
        }
    }
}
