//! The examples run.
#![expect(
    unreachable_pub,
    reason = "what is public in an example is so for this test"
)]

#[path = "../examples/01-a-forgotten-wait.rs"]
mod a_forgotten_wait;
#[path = "../examples/02-every-call-fails-once.rs"]
mod every_call_fails_once;
#[path = "../examples/03-kernels-and-time.rs"]
mod kernels_and_time;

#[test]
fn examples_run() {
    a_forgotten_wait::run().expect("the first");
    every_call_fails_once::run().expect("the second");
    kernels_and_time::run().expect("the third");
}
