//! A command that is to be run, and how this process was started.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why a command cannot be run.
#[derive(PartialEq, Eq, Debug)]
pub struct Wrong {
    command: String,
    /// The exit code that shells have for it.
    pub code: i32,
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.code == ABSENT { "no such command" } else { "it cannot be executed" };
        write!(f, "{}: {what}", self.command)
    }
}

/// Exit codes of shells (POSIX, 2.8.2).
const ABSENT: i32 = 127;
const NO_PROGRAM: i32 = 126;

/// Why there is nothing to run by this name; none: it can be run.
pub fn wrong(name: &OsStr) -> Option<Wrong> {
    wrong_in(name, std::env::var_os("PATH").as_deref())
}

fn wrong_in(name: &OsStr, path: Option<&OsStr>) -> Option<Wrong> {
    // a name with a slash is looked up nowhere else
    let places: Vec<PathBuf> = if Path::new(name).components().count() > 1 {
        vec![name.into()]
    } else {
        // without PATH the start of the command looks in places of its own (execvp(3))
        std::env::split_paths(path?).map(|folder| folder.join(name)).collect()
    };
    let found: Vec<_> = places.iter().filter_map(|place| fs::metadata(place).ok()).collect();
    let program = |found: &fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 > 0;
    if found.iter().any(program) {
        return None;
    }
    let code = if found.is_empty() { ABSENT } else { NO_PROGRAM };
    Some(Wrong { command: name.to_string_lossy().into_owned(), code })
}

/// Whether this process was started with a signal ignored (proc(5), `SigIgn` of `status`).
pub fn ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored_in(&status, signal))
}

fn ignored_in(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // POSIX, 2.8.2: 127 where there is no command, 126 where it is no program.
    #[test]
    fn a_command_that_cannot_run_has_the_code_of_a_shell() {
        let path = Some("/bin:/etc".as_ref());
        let code = |name: &str| wrong_in(name.as_ref(), path).map(|one| one.code);
        assert_eq!(code("sh"), None);
        assert_eq!(code("/bin/sh"), None);
        assert_eq!(code("no-such-command"), Some(127));
        assert_eq!(code("/no-such-folder/sh"), Some(127));
        assert_eq!(code("/etc/passwd"), Some(126));
        assert_eq!(code("/etc"), Some(126));
    }

    // execvp(3): where PATH is not set, it looks in /bin and /usr/bin. A path needs no PATH.
    #[test]
    fn without_path_the_start_looks_for_the_command() {
        let code = |name: &str| wrong_in(name.as_ref(), None).map(|one| one.code);
        assert_eq!(code("sh"), None);
        assert_eq!(code("/etc/passwd"), Some(126));
    }

    // proc(5): bit 0 is signal 1, SIGHUP; 2 is SIGINT.
    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert!(ignored_in(status, 1) && ignored_in(status, 13));
        assert!(!ignored_in(status, 2) && !ignored_in("", 1));
    }
}
