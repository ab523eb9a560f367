//! Machines of their own for a trial: network namespaces on one switch, each of which can be cut off.

use std::process::Command;

/// Namespaces, a switch between them, and a way there from this one. All gone with this.
#[derive(Debug)]
pub struct Network {
    /// What all names begin with: this process's own.
    name: String,
    hosts: usize,
}

impl Network {
    /// So many machines. None where that is not allowed, which is told.
    #[must_use]
    pub fn start(hosts: usize) -> Option<Network> {
        let network = Network {
            name: format!("cg{}", std::process::id() % 100_000),
            hosts,
        };
        match network.set_up() {
            Ok(()) => Some(network),
            Err(why) => {
                println!("skipped: no network namespaces here: {}", why.trim());
                None
            }
        }
    }

    fn set_up(&self) -> Result<(), String> {
        let name = &self.name;
        ip(&format!("netns add {name}"))?;
        ip(&format!("-n {name} link add switch type bridge"))?;
        ip(&format!("-n {name} link set switch up"))?;
        // This namespace looks at what happens, and is never cut off.
        ip(&format!(
            "link add {name}r type veth peer name root netns {name}"
        ))?;
        ip(&format!("addr add {}/24 dev {name}r", self.address(253)))?;
        ip(&format!("link set {name}r up"))?;
        ip(&format!("-n {name} link set root master switch up"))?;
        for host in 0..self.hosts {
            let space = self.space(host);
            ip(&format!("netns add {space}"))?;
            ip(&format!(
                "link add {name}p{host} netns {name} type veth peer name eth0 netns {space}"
            ))?;
            ip(&format!(
                "-n {name} link set {name}p{host} master switch up"
            ))?;
            ip(&format!(
                "-n {space} addr add {}/24 dev eth0",
                self.address(host)
            ))?;
            ip(&format!("-n {space} link set eth0 up"))?;
            ip(&format!("-n {space} link set lo up"))?;
        }
        Ok(())
    }

    /// A machine's address.
    #[must_use]
    pub fn address(&self, host: usize) -> String {
        format!("10.213.{}.{}", std::process::id() % 250, host + 1)
    }

    fn space(&self, host: usize) -> String {
        format!("{}h{host}", self.name)
    }

    /// A program on a machine.
    pub fn command(&self, host: usize, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.space(host)])
            .arg(program);
        command
    }

    /// Nothing reaches a machine any more, and nothing leaves it; or it does again.
    ///
    /// # Panics
    /// That cannot be had.
    pub fn cut(&self, host: usize, is_cut: bool) {
        let state = if is_cut { "down" } else { "up" };
        let name = &self.name;
        ip(&format!("-n {name} link set {name}p{host} {state}")).unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Half of it may never have been made.
        let _ = ip(&format!("link del {}r", self.name));
        for space in (0..self.hosts)
            .map(|host| self.space(host))
            .chain([self.name.clone()])
        {
            let _ = ip(&format!("netns del {space}"));
        }
    }
}

fn ip(words: &str) -> Result<(), String> {
    let said = Command::new("ip").args(words.split(' ')).output();
    let said = said.map_err(|error| format!("ip: {error}"))?;
    match said.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {words}: {}",
            String::from_utf8_lossy(&said.stderr)
        )),
    }
}
