//! The page about platforms says what the code says, and the code what its platforms do.

use std::{path::Path, sync::Arc, time::Duration};

use core_gpu::{
    driver::{Absent, DeviceId, DriverError, PlatformKind},
    platform::{
        CpuPlatform, CudaPlatform, MetalPlatform, Platform, Platforms, RocmPlatform, SUPPORT,
        support_table,
    },
};

/// What stands around the table.
const BEGIN: &str =
    "<!-- the table is written by `COALESCE_BLESS=1 cargo test -p core-gpu --test support` -->\n";

#[test]
fn the_page_has_the_table_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("docs/platforms.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let after = rest.find("\n\n").map_or("", |end| &rest[end..]);
    let wanted = format!("{before}{BEGIN}{}{after}", support_table().trim_end());
    if std::env::var_os("COALESCE_BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
        return;
    }
    assert_eq!(page, wanted, "bless it: the page is behind the code");
}

#[test]
fn the_table_says_what_the_platforms_do() {
    let platforms: [Arc<dyn Platform>; 4] = [
        Arc::new(CudaPlatform::from_environment()),
        Arc::new(RocmPlatform::from_environment()),
        Arc::new(MetalPlatform),
        Arc::new(CpuPlatform),
    ];
    for platform in platforms {
        let kind = platform.kind();
        let said = SUPPORT.iter().find(|one| one.platform == kind).unwrap();
        let id = DeviceId {
            platform: kind,
            uuid: [0xee; 16],
        };
        // Of a device that is not there: whether it could be opened if it were.
        let opens = !matches!(
            platform.open(&id),
            Err(DriverError::Absent(Absent::Unsupported { .. }))
        );
        assert_eq!(said.opens, opens, "{kind}");
    }
    let looked_for: Vec<_> = Platforms::from_environment(Duration::from_secs(20))
        .all()
        .iter()
        .map(|status| status.kind)
        .collect();
    let automatic = SUPPORT.iter().filter(|one| one.is_automatic);
    let automatic: Vec<_> = automatic.map(|one| one.platform).collect();
    assert_eq!(looked_for, automatic, "in the same order");
    let kinds = PlatformKind::ALL
        .iter()
        .filter(|kind| **kind != PlatformKind::Simulated);
    for kind in kinds {
        assert!(SUPPORT.iter().any(|one| one.platform == *kind), "{kind}");
    }
}
