//! What is there of each platform, as a table: docs/platforms.md is written from it.

use core_gpu_driver::PlatformKind;

/// What is there of one platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// The platform.
    pub platform: PlatformKind,
    /// The crate's feature that it is behind; `None` for what is always there.
    pub feature: Option<&'static str>,
    /// What is looked for at run time.
    pub library: &'static str,
    /// It is looked for where nobody names a platform.
    pub is_automatic: bool,
    /// Its devices can be opened: memory, copies, streams, events.
    pub opens: bool,
    /// Memory in a stream's order, where the device has it.
    pub stream_ordered_allocation: bool,
    /// Address space apart from memory, where the device has it.
    pub virtual_memory: bool,
    /// Capture into a graph is noticed.
    pub capture: bool,
    /// Collectives of several devices.
    pub collectives: bool,
    /// Temperature, power, errors, processes.
    pub health: bool,
    /// What has run of it, and on what.
    pub proven: &'static str,
}

/// Nothing, of a platform that is always there.
const NOTHING: Support = Support {
    platform: PlatformKind::Host,
    feature: None,
    library: "–",
    is_automatic: true,
    opens: true,
    stream_ordered_allocation: false,
    virtual_memory: false,
    capture: false,
    collectives: false,
    health: false,
    proven: "",
};

/// All platforms, in the order of preference.
///
/// ```
/// use core_gpu::platform::SUPPORT;
///
/// for one in SUPPORT.iter().filter(|one| one.opens) {
///     println!("{}: {}", one.platform, one.proven);
/// }
/// ```
pub const SUPPORT: &[Support] = &[
    Support {
        platform: PlatformKind::Cuda,
        feature: Some("cuda"),
        library: "`libcuda.so.1`, `nvcuda.dll`; `libnvidia-ml`, `libnccl`",
        stream_ordered_allocation: true,
        virtual_memory: true,
        capture: true,
        collectives: true,
        health: true,
        proven: "on simulated libraries in CI; on a card: see docs/evidence, nothing there is nothing \
                 proven",
        ..NOTHING
    },
    Support {
        platform: PlatformKind::Rocm,
        feature: Some("rocm"),
        library: "`libamdhip64.so.7`, `.6`, `.5`; the kernel's files",
        stream_ordered_allocation: true,
        capture: true,
        proven: "on the simulated library in CI; never on a card",
        ..NOTHING
    },
    Support {
        platform: PlatformKind::Metal,
        feature: Some("metal"),
        library: "the system's framework, on macOS",
        proven: "compiled for macOS; never run",
        ..NOTHING
    },
    Support {
        platform: PlatformKind::Vulkan,
        feature: Some("vulkan"),
        library: "`libvulkan.so.1`",
        is_automatic: false,
        proven: "on Mesa's llvmpipe, where it is installed; never on a card",
        ..NOTHING
    },
    Support {
        platform: PlatformKind::Host,
        proven: "everywhere",
        ..NOTHING
    },
];

/// The table in Markdown.
#[must_use]
pub fn support_table() -> String {
    let yes = |is: bool| if is { "yes" } else { "–" };
    let mut text = String::from(
        "| platform | feature | looked for at run time | by itself | opens | in a stream's order | \
         virtual memory | capture is noticed | collectives | health | proven |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for one in SUPPORT {
        let feature = one
            .feature
            .map_or_else(|| "–".to_owned(), |feature| format!("`{feature}`"));
        let cells = [
            super::name_of(one.platform).to_owned(),
            feature,
            one.library.to_owned(),
            yes(one.is_automatic).to_owned(),
            yes(one.opens).to_owned(),
            yes(one.stream_ordered_allocation).to_owned(),
            yes(one.virtual_memory).to_owned(),
            yes(one.capture).to_owned(),
            yes(one.collectives).to_owned(),
            yes(one.health).to_owned(),
            one.proven.to_owned(),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}
