//! Processes whose leaders end before their groups do, and numbers that may be others'.

use rustix::process::{WaitOptions, kill_process, test_kill_process, waitpid};

use super::*;

/// A process that starts another in its group, says its number, and ends with 3.
fn leader_and_follower() -> (Group, Pid) {
    let (mut ours, theirs) = std::io::pipe().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "sleep 1000 >&- & echo $!; exec >&-; exit 3"])
        .stdin(Stdio::null())
        .stdout(theirs);
    let group = spawn(command).unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut ours, &mut said).unwrap();
    let follower = Pid::from_raw(said.trim().parse().unwrap()).unwrap();
    (group, follower)
}

fn is_there(process: Pid) -> bool {
    // One that has ended and that nobody has collected is no process to a reader of its status.
    let status = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let state = status.ok().and_then(|text| {
        let (_, rest) = text.rsplit_once(") ")?;
        rest.chars().next()
    });
    !matches!(state, None | Some('Z' | 'X'))
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never does");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_leader_that_has_ended_keeps_its_number_until_its_group_is_killed() {
    let (mut group, follower) = leader_and_follower();
    let number = group.number().unwrap();
    wait_until(|| group.standing() != Standing::Running);
    for _ in 0..3 {
        let Standing::Ended(status) = group.standing() else {
            panic!("{:?}", group.standing());
        };
        assert_eq!(status.code(), Some(3), "{status}");
        test_kill_process(number).expect("nobody else can have its number");
    }
    assert!(is_there(follower));
    assert_eq!(group.bury(), "exit status: 3");
    wait_until(|| !is_there(follower));
    assert_eq!((group.process(), group.standing()), (None, Standing::Gone));
}

#[test]
#[cfg(target_os = "linux")]
fn a_number_that_may_be_another_s_gets_no_signal() {
    let (mut group, follower) = leader_and_follower();
    // Somebody else in this program waits for all children, as a script's interpreter may.
    waitpid(group.number(), WaitOptions::empty()).unwrap();
    assert_eq!(group.standing(), Standing::Gone);
    assert_eq!(settled(&group), None);
    group.kill();
    // Nobody knows any more whose group that is.
    assert!(is_there(follower));
    group.bury();
    assert!(is_there(follower));
    kill_process(follower, Signal::KILL).unwrap();
    wait_until(|| !is_there(follower));
}

#[test]
fn statuses_are_the_standard_library_s() {
    for (script, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 255", Some(255), None),
        ("kill -9 $$", None, Some(9)),
        ("ulimit -c 0; kill -6 $$", None, Some(6)),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut group = spawn(command).unwrap();
        wait_until(|| group.standing() != Standing::Running);
        let Standing::Ended(status) = group.standing() else {
            panic!("{script}: {:?}", group.standing());
        };
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
        assert_eq!(group.bury(), status.to_string(), "{script}");
    }
}
