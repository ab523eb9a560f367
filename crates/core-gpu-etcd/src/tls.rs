//! `https`: whose certificates are believed, and the one that members may want of a client.

use std::fmt;

use ureq::{config::ConfigBuilder, typestate::AgentScope};

use crate::client::EtcdError;

/// Certificates for members that are reached by `https`, all in PEM.
///
/// Only the authorities that are named are believed, and members by the name or address that they are
/// asked at. Nothing switches that off.
///
/// ```no_run
/// use core_gpu_etcd::{EtcdOptions, EtcdSlots, Tls};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = Tls::believing(std::fs::read("ca.pem")?);
/// let tls = tls.identified_by(std::fs::read("client.pem")?, std::fs::read("client.key")?);
/// let mut options = EtcdOptions::new(["https://one:2379", "https://two:2379"]);
/// options.tls = Some(tls);
/// let slots = EtcdSlots::new(options)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "nothing else reads it")
    )]
    authorities: Vec<u8>,
    /// Certificates, the client's first, and its key.
    identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Tls {
    /// Believes members whose certificates are signed by one of these.
    #[must_use]
    pub fn believing(authorities: impl Into<Vec<u8>>) -> Self {
        Self {
            authorities: authorities.into(),
            identity: None,
        }
    }

    /// The same, as a client that has a certificate itself, for members that want one.
    #[must_use]
    pub fn identified_by(
        mut self,
        certificates: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.identity = Some((certificates.into(), key.into()));
        self
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("is_identified", &self.identity.is_some())
            .finish_non_exhaustive()
    }
}

type Settings = ConfigBuilder<AgentScope>;

/// Has a client speak TLS where a member is reached by `https`.
pub(crate) fn set_up(
    settings: Settings,
    members: &[String],
    tls: Option<&Tls>,
) -> Result<Settings, EtcdError> {
    let mut secret = members.iter().filter(|member| member.starts_with("https:"));
    let Some(member) = secret.next() else {
        return Ok(settings);
    };
    encrypt(settings, member, tls)
}

#[cfg(not(feature = "tls"))]
fn encrypt(_: Settings, member: &str, _: Option<&Tls>) -> Result<Settings, EtcdError> {
    Err(EtcdError::NoTls(member.to_owned()))
}

#[cfg(feature = "tls")]
fn encrypt(settings: Settings, member: &str, tls: Option<&Tls>) -> Result<Settings, EtcdError> {
    use std::sync::Arc;

    use ureq::tls::{ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

    let Some(tls) = tls else {
        return Err(EtcdError::Tls(format!(
            "{member}: whose certificates to believe is not said (`EtcdOptions::tls`)"
        )));
    };
    let certificates = |pem: &[u8], what: &str| {
        let items = parse_pem(pem).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
            Ok(_) => None,
            Err(error) => Some(Err(EtcdError::Tls(format!("{what}: {error}")))),
        });
        let found = items.collect::<Result<Vec<_>, _>>()?;
        match found.is_empty() {
            true => Err(EtcdError::Tls(format!("{what}: there is no certificate"))),
            false => Ok(found),
        }
    };
    let authorities = certificates(&tls.authorities, "the authorities")?;
    let mut config = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&authorities));
    if let Some((chain, key)) = &tls.identity {
        let chain = certificates(chain, "the client's certificate")?;
        let key = PrivateKey::from_pem(key)
            .map_err(|error| EtcdError::Tls(format!("the client's key: {error}")))?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(settings.tls_config(config.build()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_without_what_it_needs_is_an_error_that_says_it() {
        let members = ["http://one:2379".to_owned(), "https://two:2379".to_owned()];
        let set_up = |members: &[String], tls: Option<&Tls>| {
            set_up(ureq::Agent::config_builder(), members, tls).map(|_| ())
        };
        set_up(&members[..1], None).unwrap();
        let missing = set_up(&members, None).unwrap_err();
        let said = missing.to_string();
        assert!(said.starts_with("https://two:2379: "), "{said}");
        let tls = Tls::believing("nothing");
        let refused = set_up(&members, Some(&tls)).unwrap_err();
        let expected = match cfg!(feature = "tls") {
            true => EtcdError::Tls("the authorities: there is no certificate".to_owned()),
            false => EtcdError::NoTls(members[1].clone()),
        };
        assert_eq!(refused, expected);
        assert_eq!(format!("{tls:?}"), "Tls { is_identified: false, .. }");
    }
}
