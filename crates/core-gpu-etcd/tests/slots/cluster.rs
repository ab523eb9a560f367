//! etcd on loopback, started for a test: members that can be killed, started again, and paused.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use core_gpu_etcd::{EtcdOptions, EtcdSlots, Tls};
use core_gpu_trials::{network::Network, remote, soak::signal};
use rustix::process::Signal;
use serde_json::json;

use crate::soak::ask;

/// Members in a folder of their own, gone with it.
pub struct Cluster {
    folder: tempfile::TempDir,
    members: Vec<Member>,
    /// Machines of their own, the members' first.
    network: Option<Arc<Network>>,
    /// Further options of etcd's.
    options: Vec<String>,
    /// What clients say where members are reached by `https`.
    tls: Option<Tls>,
}

struct Member {
    client: String,
    peer: String,
    process: Option<Child>,
}

/// Whether etcd is installed; where not, that is told.
fn is_there() -> bool {
    let found = Command::new("etcd")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if found.is_err() {
        println!("skipped: no etcd");
    }
    found.is_ok()
}

impl Cluster {
    /// Starts so many members. None where etcd is not installed, which is told.
    pub fn start(members: usize, options: &[&str]) -> Option<Cluster> {
        Cluster::start_by(members, options, None)
    }

    /// As [`Cluster::start`], for clients by `https` alone.
    #[cfg(feature = "tls")]
    pub fn start_encrypted(members: usize, options: &[&str], tls: &Tls) -> Option<Cluster> {
        Cluster::start_by(members, options, Some(tls.clone()))
    }

    fn start_by(members: usize, options: &[&str], tls: Option<Tls>) -> Option<Cluster> {
        if !is_there() {
            return None;
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        // Held until all have one, so that no two are the same.
        let ports: Vec<_> = (0..members * 2)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let address = |at: &TcpListener| at.local_addr().unwrap();
        let members = ports.chunks(2).map(|pair| Member {
            client: format!("{scheme}://{}", address(&pair[0])),
            peer: format!("http://{}", address(&pair[1])),
            process: None,
        });
        let mut cluster = Cluster {
            folder: tempfile::tempdir().unwrap(),
            members: members.collect(),
            network: None,
            options: options.iter().map(|&option| option.to_owned()).collect(),
            tls,
        };
        drop(ports);
        (0..cluster.members.len()).for_each(|at| cluster.revive(at));
        cluster.wait_until_it_answers();
        Some(cluster)
    }

    /// Starts so many members, each on a machine of its own, the first ones.
    pub fn start_apart(members: usize, network: &Arc<Network>) -> Option<Cluster> {
        if !is_there() {
            return None;
        }
        let url = |host, port| format!("http://{}:{port}", network.address(host));
        let member = |host| Member {
            client: url(host, 2379),
            peer: url(host, 2380),
            process: None,
        };
        let mut cluster = Cluster {
            folder: tempfile::tempdir().unwrap(),
            members: (0..members).map(member).collect(),
            network: Some(Arc::clone(network)),
            options: Vec::new(),
            tls: None,
        };
        (0..members).for_each(|at| cluster.revive(at));
        cluster.wait_until_it_answers();
        Some(cluster)
    }

    fn wait_until_it_answers(&self) {
        let store = EtcdSlots::new(self.options()).unwrap();
        remote::wait_until_it_answers(|| store.open(&crate::device(255)));
    }

    /// How to reach it, with short leases.
    pub fn options(&self) -> EtcdOptions {
        let mut options = EtcdOptions::new(self.urls());
        options.node = "here".to_owned();
        options.lease = Duration::from_secs(2);
        options.patience = Duration::from_secs(1);
        options.tls = self.tls.clone();
        options
    }

    pub fn urls(&self) -> Vec<String> {
        self.members
            .iter()
            .map(|member| member.client.clone())
            .collect()
    }

    /// Starts a member that is not there, with the data that it has.
    pub fn revive(&mut self, at: usize) {
        if self.members[at].process.is_some() {
            return;
        }
        let names = self.members.iter().enumerate();
        let all: Vec<_> = names
            .map(|(at, member)| format!("m{at}={}", member.peer))
            .collect();
        let data: PathBuf = self.folder.path().join(format!("m{at}"));
        let member = &mut self.members[at];
        let mut etcd = match &self.network {
            Some(network) => network.command(at, "etcd"),
            None => Command::new("etcd"),
        };
        etcd.args(["--name", &format!("m{at}"), "--data-dir"])
            .arg(data)
            .args(["--listen-client-urls", &member.client])
            .args(["--advertise-client-urls", &member.client])
            .args(["--listen-peer-urls", &member.peer])
            .args(["--initial-advertise-peer-urls", &member.peer])
            .args(["--initial-cluster", &all.join(",")])
            .args(["--heartbeat-interval", "100", "--election-timeout", "1000"])
            .args(["--logger", "zap", "--log-level", "panic"])
            .args(&self.options)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        member.process = Some(etcd.spawn().unwrap());
    }

    /// Which member leads the others.
    pub fn leader(&self) -> usize {
        let urls = self.urls();
        let leads = |url: &String| {
            let said = ask(std::slice::from_ref(url), "maintenance/status", &json!({}))?;
            let leader = said["leader"].as_str()?.to_owned();
            Some(said["header"]["member_id"] == leader.as_str())
        };
        let begin = Instant::now();
        loop {
            if let Some(at) = urls.iter().position(|url| leads(url).unwrap_or(false)) {
                return at;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "nobody leads");
        }
    }

    /// Kills a member.
    pub fn kill(&mut self, at: usize) {
        if let Some(mut process) = self.members[at].process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Stops a member for a while: it neither answers nor goes.
    pub fn pause(&self, at: usize, pause: Duration) {
        if let Some(process) = &self.members[at].process {
            signal(process, Signal::STOP);
            thread::sleep(pause);
            signal(process, Signal::CONT);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        (0..self.members.len()).for_each(|at| self.kill(at));
    }
}
