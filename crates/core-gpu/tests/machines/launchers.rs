//! Ranks that Slurm and torchrun start, on this machine alone. They run by `cargo xtask evidence`, which says so in the
//! environment, since it is that which installs the two.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use core_gpu::strategies::SECRET_VARIABLE;

use crate::{DONE, case};

/// The program that starts ranks, as evidence says it: for Slurm its daemons are looked for by name.
const TORCHRUN: &str = "COALESCE_EVIDENCE_TORCHRUN";
const SLURM: &str = "COALESCE_EVIDENCE_SLURM";
const RANKS: usize = 2;

fn is_asked_for(variable: &str) -> Option<String> {
    let asked = std::env::var(variable).ok();
    if asked.is_none() {
        println!("skipped: runs by `cargo xtask evidence`");
    }
    asked
}

/// Ports that nobody has at the moment.
fn ports() -> [u16; 2] {
    let found = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    found.map(|port| port.local_addr().unwrap().port())
}

/// What a launcher is to start: this program, which finds the simulated libraries while the launcher does not.
fn rank_by(launcher: &mut Command, done: &Path) {
    let libraries = std::env::var("LD_LIBRARY_PATH").unwrap();
    launcher
        .args(["env", &format!("LD_LIBRARY_PATH={libraries}")])
        .arg(std::env::current_exe().unwrap())
        .args(["rank", "--exact", "--nocapture"])
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("GPU_SIM_CASE")
        .env(DONE, done)
        .env(SECRET_VARIABLE, "what all ranks were told");
}

fn check(launcher: &mut Command, done: &Path) {
    let said = launcher.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    assert_eq!(fs::read_dir(done).unwrap().count(), RANKS);
}

#[test]
fn torchrun_starts_ranks_that_meet() {
    let Some(torchrun) = is_asked_for(TORCHRUN) else {
        return;
    };
    case("launchers::torchrun_starts_ranks_that_meet").run(|| {
        let done = tempfile::tempdir().unwrap();
        let [port, _] = ports();
        let mut launcher = Command::new(&torchrun);
        launcher
            .args(["--nnodes=1", "--nproc-per-node=2", "--no-python"])
            .args(["--master-addr=127.0.0.1", &format!("--master-port={port}")]);
        rank_by(&mut launcher, done.path());
        check(&mut launcher, done.path());
    });
    // What the case's process says is shown where it fails alone.
    println!("torchrun: {RANKS} ranks have met and added up");
}

/// Slurm's two daemons in a folder of their own.
struct Slurm {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Slurm {
    fn start() -> Slurm {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        for part in ["state", "spool"] {
            fs::create_dir(at.join(part)).unwrap();
        }
        // Slurm tells of devices that are nodes; nobody opens these.
        for number in 0..RANKS {
            let node = at.join(format!("nvidia{number}"));
            let made = Command::new("mknod")
                .arg(node)
                .args(["c", "1", "3"])
                .status();
            assert!(made.unwrap().success(), "only the administrator may");
        }
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        fs::write(at.join("slurm.conf"), settings(at, host)).unwrap();
        let devices = format!(
            "Name=gpu File={}/nvidia[0-{}] Flags=nvidia_gpu_env\n",
            at.display(),
            RANKS - 1
        );
        fs::write(at.join("gres.conf"), devices).unwrap();
        let mut slurm = Slurm {
            folder,
            daemons: Vec::new(),
        };
        for daemon in ["slurmctld", "slurmd"] {
            let mut starts = slurm.command(daemon);
            starts.arg("-D").stdout(Stdio::null()).stderr(Stdio::null());
            slurm.daemons.push(starts.spawn().unwrap());
            thread::sleep(Duration::from_millis(500));
        }
        let begin = Instant::now();
        while !slurm.is_idle() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it has no nodes");
            thread::sleep(Duration::from_millis(300));
        }
        slurm
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        // The simulated driver is for the ranks alone.
        command.env_remove("LD_LIBRARY_PATH");
        command
    }

    fn is_idle(&self) -> bool {
        let said = self.command("sinfo").args(["-h", "-o", "%T"]).output();
        said.is_ok_and(|said| said.stdout.starts_with(b"idle"))
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn settings(at: &Path, host: &str) -> String {
    let (at, [controller, node]) = (at.display(), ports());
    format!(
        "ClusterName=trial\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/none\nCredType=cred/none\nSlurmctldPort={controller}\nSlurmdPort={node}\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\nSlurmctldPidFile={at}/ctld.pid\n\
         SlurmdPidFile={at}/d.pid\nSlurmctldLogFile={at}/ctld.log\nSlurmdLogFile={at}/d.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nReturnToService=2\nMpiDefault=none\nGresTypes=gpu\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 Gres=gpu:{RANKS} State=UNKNOWN\n\
         PartitionName=all Nodes={host} Default=YES MaxTime=5 State=UP OverSubscribe=YES\n"
    )
}

#[test]
fn slurm_starts_ranks_that_meet() {
    if is_asked_for(SLURM).is_none() {
        return;
    }
    case("launchers::slurm_starts_ranks_that_meet").run(|| {
        let (slurm, done) = (Slurm::start(), tempfile::tempdir().unwrap());
        let mut launcher = slurm.command("srun");
        launcher.args(["-n2", "--gres=gpu:2"]);
        rank_by(&mut launcher, done.path());
        // A node's name may lead nowhere on a machine that nobody else knows.
        launcher.env("MASTER_ADDR", "127.0.0.1");
        check(&mut launcher, done.path());
        // Devices that Slurm keeps from a task are not there.
        let done = tempfile::tempdir().unwrap();
        let mut one = slurm.command("srun");
        one.args(["-n1", "--gres=gpu:1"]);
        rank_by(&mut one, done.path());
        one.env("TEST_DEVICES", "1").env("MASTER_ADDR", "127.0.0.1");
        let said = one.output().unwrap();
        assert!(said.status.success(), "{said:?}");
    });
    println!("Slurm: {RANKS} ranks have met and added up; a task with one of two devices sees one");
}
