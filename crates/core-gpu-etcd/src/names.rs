//! Where a member is: at the address that it is named by, or where the system finds its name. ureq starts a thread
//! for each question to look that up, and panics where there is none to be had; here an address needs no thread, and
//! a name without one is an error.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    sync::mpsc,
    thread,
};

use ureq::{
    Error,
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

/// Addresses of a name that are tried: as many as there is room for.
const MOST: usize = 16;

/// Looks names up.
#[derive(Debug)]
pub(crate) struct Names;

impl Resolver for Names {
    fn resolve(
        &self,
        uri: &Uri,
        _config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().ok_or(Error::HostNotFound)?;
        let is_secret = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_secret { 443 } else { 80 });
        let plain = host.trim_start_matches('[').trim_end_matches(']');
        let mut found = self.empty();
        if let Ok(address) = plain.parse::<IpAddr>() {
            found.push(SocketAddr::new(address, port));
            return Ok(found);
        }
        let (sender, told) = mpsc::sync_channel(1);
        let name = (plain.to_owned(), port);
        let look = move || {
            // Nobody hears it when the time is over.
            let _ = sender.send(name.to_socket_addrs());
        };
        let thread = thread::Builder::new().name("name of a member".to_owned());
        thread.spawn(look).map_err(Error::Io)?;
        let told = told.recv_timeout(*timeout.after).map_err(|why| match why {
            mpsc::RecvTimeoutError::Timeout => Error::Timeout(timeout.reason),
            mpsc::RecvTimeoutError::Disconnected => {
                Error::Io(io::Error::other("the name was not looked up"))
            }
        })?;
        told?.take(MOST).for_each(|address| found.push(address));
        match found.is_empty() {
            true => Err(Error::HostNotFound),
            false => Ok(found),
        }
    }
}
