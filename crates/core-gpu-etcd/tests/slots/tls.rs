//! Members that are reached by `https`, and want a certificate of who asks.

use std::{path::Path, time::Duration};

use core_gpu::{
    platform::Deadline,
    slots::{Request, SlotStore},
};
use core_gpu_etcd::{EtcdError, EtcdOptions, EtcdSlots, Tls};

use crate::{cluster::Cluster, device, users::makes};

/// Makes an authority, a member's certificate and a client's; none where there is no openssl.
fn certificates(folder: &Path) -> bool {
    let script = "set -e
        new() { openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj /CN=$1; }
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2
        openssl req -x509 -newkey rsa:2048 -nodes -keyout no.key -out other.pem -subj /CN=ca -days 2
        printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' > extensions
        for one in member client; do
            new $one
            openssl x509 -req -in $one.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \\
                -extfile extensions -out $one.pem
        done";
    makes(folder, script)
}

/// What a store with these options comes to.
fn claim(options: EtcdOptions) -> Result<(), EtcdError> {
    let store = EtcdSlots::new(options)?;
    store.open(&device(1))?;
    let soon = Deadline::after(Duration::from_secs(20));
    let claim = store.claim(&Request::on(device(1), 1), soon).unwrap();
    store.release(claim).unwrap();
    Ok(())
}

#[test]
fn members_and_clients_have_certificates() {
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path()) {
        return;
    }
    let path = |name: &str| folder.path().join(name);
    let read = |name: &str| std::fs::read(path(name)).unwrap();
    let known = Tls::believing(read("ca.pem"));
    let known = known.identified_by(read("client.pem"), read("client.key"));
    let option = |name: &str, file: &str| [name.to_owned(), path(file).display().to_string()];
    let told = [
        option("--cert-file", "member.pem"),
        option("--key-file", "member.key"),
        option("--trusted-ca-file", "ca.pem"),
        ["--client-cert-auth".to_owned(), String::new()],
    ];
    let told: Vec<_> = told.iter().flatten().map(String::as_str).collect();
    let told: Vec<_> = told.into_iter().filter(|one| !one.is_empty()).collect();
    let Some(cluster) = Cluster::start_encrypted(1, &told, &known) else {
        return;
    };
    claim(cluster.options()).unwrap();
    let with = |tls: Option<Tls>| {
        let mut options = cluster.options();
        options.tls = tls;
        claim(options)
    };
    // Whoever is not known by the authorities is not asked, and who has no certificate not answered.
    let stranger = with(Some(Tls::believing(read("other.pem")))).unwrap_err();
    assert!(matches!(stranger, EtcdError::Unreachable(_)), "{stranger}");
    assert!(stranger.to_string().contains("certificate"), "{stranger}");
    let nobody = with(Some(Tls::believing(read("ca.pem")))).unwrap_err();
    assert!(matches!(nobody, EtcdError::Unreachable(_)), "{nobody}");
    assert!(matches!(with(None), Err(EtcdError::Tls(_))));
}
