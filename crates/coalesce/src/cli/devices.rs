//! What `devices` can be asked for.

use clap::Args;

/// Arguments of `devices`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Opens no device. Where slots are kept: COALESCE_GPU_SLOTS_DIRECTORY. Who asks etcd, where it \
                  wants to know: COALESCE_GPU_CLUSTER_USER and COALESCE_GPU_CLUSTER_PASSWORD.\n\n\
                  Examples:\n  coalesce devices\n  coalesce devices --format json\n  \
                  coalesce devices --watch 5 --isolated\n  \
                  coalesce devices --cluster http://one:2379,http://two:2379 --watch\n  \
                  coalesce devices --cluster http://one:2379 --watch 30 --announce \"$(hostname)\""
)]
pub struct Devices {
    /// Show it again every so many seconds, until interrupted
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", value_parser = interval)]
    pub watch: Option<f64>,
    /// Look for each platform in a process of its own: one that crashes or hangs takes nothing along
    #[arg(long)]
    pub isolated: bool,
    /// How long a platform may take to answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = interval)]
    pub deadline: f64,
    /// Look for this platform alone
    #[arg(long, value_name = "NAME", value_parser = ["cuda", "rocm", "metal", "cpu"], conflicts_with = "isolated")]
    pub platform: Option<String>,
    /// Show the machines that keep their slots in etcd instead of this one: its members as
    /// http://HOST:PORT, with commas between
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',', conflicts_with_all = ["isolated", "platform"])]
    pub cluster: Vec<String>,
    /// Announce this machine's devices there under this name, as long as this runs
    #[arg(long, value_name = "NAME", requires_all = ["watch", "cluster"])]
    pub announce: Option<String>,
}

/// Seconds, more than none and less than a day.
fn interval(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds > 0.0 && seconds <= 86_400.0 {
        Ok(seconds)
    } else {
        Err("more than 0 and at most 86400 seconds".to_owned())
    }
}
