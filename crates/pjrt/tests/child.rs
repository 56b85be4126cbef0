//! A child process's end is reported, however it ends.

#![cfg(unix)]

use std::process::Command;

use shard_pjrt::ChildError;
use shard_pjrt::child::{self, Work};

fn shell(script: &str, work: Work) -> Result<i32, ChildError> {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    child::run(command, work)
}

#[test]
fn an_exit_status_is_passed_on() {
    assert!(!child::is_child());
    assert_eq!(shell("exit 0", Work::OfMachine).expect("it ran"), 0);
    assert_eq!(shell("exit 3", Work::OfMachine).expect("it ran"), 3);
}

#[test]
fn a_signal_is_an_error() {
    let error = shell("kill -ABRT $$", Work::OfMachine).expect_err("it is killed");
    assert!(error.to_string().contains("signal 6 (aborted)"), "{error}");
    let error = shell("kill -KILL $$", Work::OfMachine).expect_err("it is killed");
    assert!(error.to_string().contains("out of memory"), "{error}");
}

#[test]
fn a_command_that_is_not_there() {
    let error = child::run(Command::new("/nowhere/tool"), Work::Ahead).expect_err("no such file");
    assert!(matches!(error, ChildError::Io(_)), "{error}");
}

#[test]
fn the_environment_fits_the_work() {
    let marked = "test -n \"$SHARD_OPT_PJRT_CHILD\" && test -n \"$TF_CPP_MIN_LOG_LEVEL\"";
    assert_eq!(shell(marked, Work::OfMachine).expect("it ran"), 0);
    let skips = "test \"$TPU_SKIP_MDS_QUERY\" = 1";
    assert_eq!(shell(skips, Work::Ahead).expect("it ran"), 0);
    assert_eq!(shell(skips, Work::OfMachine).expect("it ran"), 1);
}
