//! PostgreSQL on loopback or a machine of its own, started for a test: it can be killed, started again, and paused.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use core_gpu::slots::SlotStore as _;
use core_gpu_postgres::{PostgresOptions, PostgresSlots};
use core_gpu_trials::{network::Network, remote};
use rustix::process::{Pid, Signal, getuid, kill_process};

/// Who may log in from elsewhere: one with a password, and all others without.
const LOGINS: &str =
    "local all all trust\nhost all guarded all scram-sha-256\nhost all all all trust\n";
/// What happens to slots, as the server itself writes it down.
const HISTORY: &str = "
CREATE TABLE trial (id bigserial PRIMARY KEY, kind text, device text, slot bigint, revision bigint, lease bigint,
    at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE FUNCTION write_down() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed coalesce_slots.slots%ROWTYPE;
BEGIN
    IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
    INSERT INTO public.trial (kind, device, slot, revision, lease)
        VALUES (TG_OP, changed.device, changed.slot, changed.revision, changed.lease);
    RETURN NULL;
END $$;
CREATE TRIGGER trial AFTER INSERT OR UPDATE OR DELETE ON coalesce_slots.slots
    FOR EACH ROW EXECUTE FUNCTION write_down()";

/// A server in a folder of its own, gone with it.
pub struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    /// Who runs it, where this is the administrator: it refuses to run as one.
    user: Option<u32>,
    host: String,
    port: u16,
    network: Option<Arc<Network>>,
    process: Option<Child>,
}

/// Where its programs are; where there are none, that is told.
fn programs() -> Option<PathBuf> {
    let below = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let of_debian = below.flatten().map(|entry| entry.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).chain(of_debian).collect();
    let needed = ["initdb", "postgres", "psql"];
    folders.retain(|folder| needed.iter().all(|name| folder.join(name).is_file()));
    folders.sort();
    let found = folders.pop();
    if found.is_none() {
        println!("skipped: no PostgreSQL");
    }
    found
}

/// Somebody who is no administrator.
fn somebody() -> Option<u32> {
    let number = |name: &str| {
        let said = Command::new("id").args(["-u", name]).output().ok()?;
        String::from_utf8_lossy(&said.stdout).trim().parse().ok()
    };
    let found = number("postgres").or_else(|| number("nobody"));
    if found.is_none() {
        println!("skipped: PostgreSQL runs as no administrator, and there is nobody else");
    }
    found
}

impl Server {
    /// Starts one on loopback. None where it is not installed, which is told.
    pub fn start() -> Option<Server> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Server::start_at("127.0.0.1".to_owned(), port, None)
    }

    /// Starts one on the first machine of a network.
    pub fn start_apart(network: &Arc<Network>) -> Option<Server> {
        Server::start_at(network.address(0), 5432, Some(Arc::clone(network)))
    }

    fn start_at(host: String, port: u16, network: Option<Arc<Network>>) -> Option<Server> {
        let programs = programs()?;
        let user = match getuid().is_root() {
            true => Some(somebody()?),
            false => None,
        };
        let folder = tempfile::tempdir().unwrap();
        if let Some(user) = user {
            chown(folder.path(), Some(user), None).unwrap();
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut server = Server {
            folder,
            programs,
            user,
            host,
            port,
            network,
            process: None,
        };
        let made = server
            .program(false, "initdb")
            .args(["--username=coalesce", "--auth=trust", "--no-sync"])
            .args(["--encoding=UTF8", "--no-locale", "-D"])
            .arg(server.data())
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        fs::write(server.data().join("pg_hba.conf"), LOGINS).unwrap();
        server.revive();
        server.wait_until_it_answers();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// One of its programs, run by somebody who may.
    fn program(&self, is_there: bool, name: &str) -> Command {
        let path = self.programs.join(name);
        let (first, rest): (&Path, Option<&Path>) = match self.user {
            Some(_) => (Path::new("setpriv"), Some(&path)),
            None => (&path, None),
        };
        let mut command = match self.network.as_ref().filter(|_| is_there) {
            Some(network) => network.command(0, first),
            None => Command::new(first),
        };
        if let (Some(path), Some(user)) = (rest, self.user) {
            command.args([format!("--reuid={user}"), "--clear-groups".to_owned()]);
            command.arg("--").arg(path);
        }
        command
            .current_dir("/")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn wait_until_it_answers(&self) {
        let store = PostgresSlots::new(self.options()).unwrap();
        remote::wait_until_it_answers(|| store.status(&crate::device(255)));
    }

    /// Has it write down what happens to slots from now on.
    pub fn write_history(&self) {
        let said = self.ask(HISTORY);
        assert!(said.status.success(), "{said:?}");
    }

    /// Asks it past the store's client.
    pub fn ask(&self, question: &str) -> Output {
        let mut asks = Command::new(self.programs.join("psql"));
        asks.args(["-h", &self.host, "-p", &self.port.to_string()])
            .args(["-U", "coalesce", "-d", "postgres", "-X", "-A", "-t"])
            .args(["-v", "ON_ERROR_STOP=1", "-F", " ", "-c", question]);
        asks.output().unwrap()
    }

    /// How a client finds it, as somebody.
    pub fn address_for(&self, user: &str) -> String {
        let (host, port) = (&self.host, self.port);
        format!("host={host} port={port} user={user} dbname=postgres")
    }

    /// How to reach it, with short leases.
    pub fn options(&self) -> PostgresOptions {
        options(&self.address_for("coalesce"))
    }

    /// Starts it, if it is not there, with the data that it has.
    pub fn revive(&mut self) {
        // It ends at once where one that was killed is not quite gone.
        let is_there = (0..40).any(|_| self.is_there_or_started());
        assert!(is_there, "the server does not start again");
    }

    /// Whether it runs; starts it where it does not.
    fn is_there_or_started(&mut self) -> bool {
        if let Some(process) = &mut self.process
            && process.try_wait().unwrap().is_none()
        {
            return true;
        }
        let mut starts = self.program(true, "postgres");
        starts.arg("-D").arg(self.data());
        starts.args(["-h", &self.host, "-p", &self.port.to_string()]);
        starts.arg("-k").arg(self.folder.path());
        starts.args(["-c", "max_connections=200", "-c", "shared_buffers=16MB"]);
        self.process = Some(starts.spawn().unwrap());
        thread::sleep(Duration::from_millis(250));
        false
    }

    /// The numbers of all its processes, the first one's first: those that work in its folder. Whose children they are
    /// says less, since those of one that was killed are somebody else's.
    fn processes(&self) -> Vec<Pid> {
        let data = fs::canonicalize(self.data()).unwrap();
        let mut found: Vec<u32> = self.process.iter().map(Child::id).collect();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let number = entry.file_name().to_string_lossy().parse::<u32>();
            let works_there = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == data);
            found.extend(
                number
                    .ok()
                    .filter(|number| works_there && !found.contains(number)),
            );
        }
        let number = |id| i32::try_from(id).ok().and_then(Pid::from_raw);
        found.into_iter().filter_map(number).collect()
    }

    fn signal(&self, signal: Signal) {
        for process in self.processes() {
            // One that is gone hears nothing.
            let _ = kill_process(process, signal);
        }
    }

    /// Ends all of it without a warning.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        if let Some(mut process) = self.process.take() {
            process.wait().unwrap();
        }
        // One that was being started meanwhile would wait for ever for locks of those that are gone, and keep the next
        // server from starting.
        while !self.processes().is_empty() {
            self.signal(Signal::KILL);
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops all of it for a while.
    pub fn pause(&self, pause: Duration) {
        self.signal(Signal::STOP);
        thread::sleep(pause);
        self.signal(Signal::CONT);
    }
}

/// With short leases.
pub fn options(address: &str) -> PostgresOptions {
    let mut options = PostgresOptions::new(address);
    options.node = "here".to_owned();
    options.lease = Duration::from_secs(2);
    options.patience = Duration::from_secs(1);
    options
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
