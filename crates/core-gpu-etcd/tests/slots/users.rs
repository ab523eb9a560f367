//! Users: who may not is told so, and tokens that run out or are refused are had anew, also by who waits.

use std::{path::Path, process::Command, sync::Arc, thread, time::Duration};

use core_gpu::{
    platform::Deadline,
    slots::{Request, SlotError, SlotGuard, SlotStore},
};
use core_gpu_etcd::{EtcdError, EtcdSlots, User};
use core_gpu_trials::remote::soon;
use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    device,
    soak::{ask, number},
};

/// Longer than tokens are good for here, by the second that etcd looks for old ones in.
const TOKEN_IS_OLD: Duration = Duration::from_secs(4);

fn post(cluster: &Cluster, path: &str, body: &Value) {
    let said = ask(&cluster.urls(), path, body).unwrap();
    assert!(said.get("error").is_none(), "{path}: {said}");
}

/// As root where one has to be somebody.
fn post_as_root(cluster: &Cluster, path: &str, body: &Value) {
    let member = cluster.urls().remove(0);
    let token = ask(
        &cluster.urls(),
        "auth/authenticate",
        &json!({"name": "root", "password": "secret"}),
    );
    let token = token.unwrap()["token"].as_str().unwrap().to_owned();
    let request = ureq::post(format!("{member}/v3/{path}")).header("Authorization", &token);
    request.send(body.to_string()).unwrap();
}

/// A cluster with a user who may everything, one who may what slots need, and one who may see other keys.
fn with_users(options: &[&str]) -> Option<Cluster> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};

    let cluster = Cluster::start(1, options)?;
    for (user, role) in [("root", "root"), ("worker", "slots"), ("stranger", "other")] {
        post(
            &cluster,
            "auth/user/add",
            &json!({"name": user, "password": "secret"}),
        );
        post(&cluster, "auth/role/add", &json!({"name": role}));
        post(
            &cluster,
            "auth/user/grant",
            &json!({"user": user, "role": role}),
        );
    }
    for (role, from, to) in [
        ("slots", "/coalesce/", "/coalesce0"),
        ("other", "/other/", "/other0"),
    ] {
        let keys = json!({
            "permType": "READWRITE", "key": STANDARD.encode(from), "range_end": STANDARD.encode(to),
        });
        post(
            &cluster,
            "auth/role/grant",
            &json!({"name": role, "perm": keys}),
        );
    }
    post(&cluster, "auth/enable", &json!({}));
    Some(cluster)
}

fn open_as(cluster: &Cluster, user: &str) -> Arc<EtcdSlots> {
    let mut options = cluster.options();
    options.user = Some(User {
        name: user.to_owned(),
        password: "secret".to_owned(),
    });
    Arc::new(EtcdSlots::new(options).unwrap())
}

fn guard(store: &Arc<EtcdSlots>) -> SlotGuard {
    let store: Arc<dyn SlotStore> = store.clone();
    SlotGuard::acquire(&store, &Request::on(device(1), 1), soon()).unwrap()
}

/// etcd says so on a stream that it leaves open.
#[test]
fn who_may_not_watch_is_told_so() {
    let Some(cluster) = with_users(&[]) else {
        return;
    };
    let stranger = open_as(&cluster, "stranger");
    let told = stranger.wait_for_ends(1, Duration::from_secs(30));
    assert!(
        matches!(told, Err(EtcdError::Refused { code: 7, .. })),
        "{told:?}"
    );
    let nobody = EtcdSlots::new(cluster.options()).unwrap();
    let told = nobody.wait_for_ends(1, Duration::from_secs(30));
    assert!(matches!(told, Err(EtcdError::Refused { .. })), "{told:?}");
}

/// The token that a wait begins with is old: it gets another, and hears.
#[test]
fn who_waits_gets_another_token() {
    let Some(cluster) = with_users(&["--auth-token-ttl", "1"]) else {
        return;
    };
    let (holds, waits) = (open_as(&cluster, "worker"), open_as(&cluster, "worker"));
    let held = guard(&holds);
    let since = waits.cluster().unwrap().revision;
    thread::sleep(TOKEN_IS_OLD);
    thread::scope(|scope| {
        let hears = scope.spawn(|| waits.wait_for_ends(since, Duration::from_secs(60)));
        // The watch begins before or after: it is from a revision on.
        held.release().unwrap();
        assert_eq!(hears.join().unwrap(), Ok(true));
    });
}

/// Keys of RSA for tokens that are signed; none where there is no openssl.
fn keys(folder: &Path) -> bool {
    let script =
        "openssl genrsa -out key.pem 2048 && openssl rsa -in key.pem -pubout -out public.pem";
    makes(folder, script)
}

/// Whether a script of the shell makes what a test needs; where not, that is told.
pub fn makes(folder: &Path, script: &str) -> bool {
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .output()
        .unwrap();
    if !made.status.success() {
        let why = String::from_utf8_lossy(&made.stderr);
        println!("skipped: no keys or certificates: {why}");
    }
    made.status.success()
}

/// A slot is held for longer than the token is good for, used and given back.
fn holds_for_longer(cluster: &Cluster) {
    let store = open_as(cluster, "worker");
    let mut held = guard(&store);
    thread::sleep(TOKEN_IS_OLD);
    held.check().unwrap();
    held.note_use(Duration::from_millis(5)).unwrap();
    thread::sleep(TOKEN_IS_OLD);
    held.release().unwrap();
    thread::sleep(TOKEN_IS_OLD);
    guard(&store).release().unwrap();
}

#[test]
fn a_slot_outlives_a_token() {
    if let Some(cluster) = with_users(&["--auth-token-ttl", "1"]) {
        holds_for_longer(&cluster);
    }
    let folder = tempfile::tempdir().unwrap();
    if keys(folder.path())
        && let Some(cluster) = with_users(&["--auth-token", &signed(folder.path(), "2s")])
    {
        holds_for_longer(&cluster);
    }
}

/// What etcd is told of signed tokens that are good for so long.
fn signed(folder: &Path, time: &str) -> String {
    let path = |name: &str| folder.join(name).display().to_string();
    let (public, private) = (path("public.pem"), path("key.pem"));
    format!("jwt,pub-key={public},priv-key={private},sign-method=RS256,ttl={time}")
}

/// A signed token says of which state of users and roles it is, and is refused after any change of them.
#[test]
fn a_change_of_roles_is_no_end_of_a_slot() {
    let folder = tempfile::tempdir().unwrap();
    if !keys(folder.path()) {
        return;
    }
    let Some(cluster) = with_users(&["--auth-token", &signed(folder.path(), "10m")]) else {
        return;
    };
    let store = open_as(&cluster, "worker");
    let mut held = guard(&store);
    let mut number = 0;
    let mut change = || {
        number += 1;
        let role = json!({"name": format!("another{number}")});
        post_as_root(&cluster, "auth/role/add", &role);
    };
    change();
    held.note_use(Duration::from_millis(5)).unwrap();
    change();
    thread::sleep(Duration::from_secs(3));
    held.check().unwrap();
    let since = store.cluster().unwrap().revision;
    change();
    // Whoever watches is refused by another word than who asks.
    thread::scope(|scope| {
        let hears = scope.spawn(|| store.wait_for_ends(since, Duration::from_secs(60)));
        held.release().unwrap();
        assert_eq!(hears.join().unwrap(), Ok(true));
    });
    change();
    guard(&store).release().unwrap();
}

/// Slots go back in a cluster without space, and are claimed again once there is some.
#[test]
fn a_slot_goes_back_without_space_and_is_claimed_with_it() {
    let Some(cluster) = Cluster::start(1, &["--quota-backend-bytes", "4194304"]) else {
        return;
    };
    let store: Arc<dyn SlotStore> = Arc::new(EtcdSlots::new(cluster.options()).unwrap());
    let request = Request::on(device(1), 2);
    let take = |by| SlotGuard::acquire(&store, &request, by);
    let (one, two) = (take(soon()).unwrap(), take(soon()).unwrap());
    let body = json!({"key": "ZmlsbA==", "value": "A".repeat(400_000)});
    let is_refused = || ask(&cluster.urls(), "kv/put", &body).is_none();
    assert!((0..40).any(|_| is_refused()));
    one.release().unwrap();
    let status = store.status(&device(1)).unwrap();
    assert_eq!(status.held.len(), 1);
    let full = take(Deadline::now());
    assert!(matches!(full, Err(SlotError::StoreFull { .. })), "{full:?}");
    // As an administrator does it: forget what was, give the space back, and end the alarm.
    let state = ask(&cluster.urls(), "kv/range", &json!({"key": "eA=="})).unwrap();
    let revision = state["header"]["revision"].clone();
    post(
        &cluster,
        "kv/compaction",
        &json!({"revision": revision, "physical": true}),
    );
    post(&cluster, "maintenance/defragment", &json!({}));
    let alarms = ask(
        &cluster.urls(),
        "maintenance/alarm",
        &json!({"action": "GET"}),
    )
    .unwrap();
    let member = number(&alarms["alarms"][0]["memberID"]);
    let end = json!({"action": "DEACTIVATE", "memberID": member.to_string(), "alarm": "NOSPACE"});
    post(&cluster, "maintenance/alarm", &end);
    let again = take(soon()).unwrap();
    two.check().unwrap();
    drop((two, again));
    assert!(store.status(&device(1)).unwrap().held.is_empty());
}
