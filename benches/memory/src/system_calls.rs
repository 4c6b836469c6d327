//! The calls of the kernel's memory between the first and the last proof, counted by `strace` in a run of their own.

use std::error::Error;
use std::process::Command;

use crate::peer::{Peer, arguments_of};
use crate::table::Table;
use crate::{Arguments, POLICIES};

const WHAT: &str = "mmap, munmap, mremap, brk, madvise (strace), in all";
const CALLS: [&str; 5] = ["mmap", "munmap", "mremap", "brk", "madvise"];

/// Proofs that are counted, after those that warm up.
const PROOFS: u32 = 12;

pub fn row(arguments: &Arguments, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let installed = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    if !installed {
        table.unknown(WHAT, "strace is not installed (apt-get install strace)");
        return Ok(());
    }
    let file = std::env::temp_dir().join(format!("proofline-bench-memory-{}.strace", std::process::id()));
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", &format!("trace={},write", CALLS.join(",")), "-o"]).arg(&file);
    command.arg(std::env::current_exe()?).args(arguments_of(arguments, POLICIES[0]));
    let mut peer = match Peer::of(command) {
        Ok(peer) => peer,
        Err(why) => {
            table.unknown(WHAT, &format!("strace cannot follow a process here: {why}"));
            return Ok(());
        }
    };
    peer.prove(arguments.warm_up.max(1))?;
    peer.prove(PROOFS)?;
    peer.end()?;
    let text = std::fs::read_to_string(&file)?;
    std::fs::remove_file(&file)?;
    let calls = between_answers(&text).ok_or("strace has not seen the answers of the process")?;
    table.row(WHAT, &[Some(calls as f64), None, None], &format!("0 in {PROOFS} proofs"), Some(calls == 0));
    Ok(())
}

/// Calls between the second and the third line that the process wrote to its standard output: `ready`, the proofs that
/// warm up, the proofs that are counted.
fn between_answers(trace: &str) -> Option<u64> {
    let mut answers = 0;
    let mut calls = 0;
    for line in trace.lines() {
        // `1234  write(1, "…`; the rest of a call that was interrupted begins with `<... `, and was counted.
        let call = line.split_once(char::is_whitespace).map_or("", |(_, call)| call.trim_start());
        if call.starts_with("write(1,") {
            answers += 1;
        } else if answers == 2
            && CALLS.iter().any(|name| call.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')))
        {
            calls += 1;
        }
    }
    (answers >= 3).then_some(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_between_the_answers() {
        let trace = "1  mmap(NULL, 1) = 0\n1  write(1, \"ready\", 5) = 5\n1  brk(NULL) = 0\n1  write(1, \"a\", 1) = 1\n\
                     22 madvise(0x1, 1 <unfinished ...>\n1  write(2, \"x\", 1) = 1\n22 <... madvise resumed>) = 0\n\
                     1  munmap(0x1, 1) = 0\n1  write(1, \"b\", 1) = 1\n1  munmap(0x1, 1) = 0\n";
        assert_eq!(between_answers(trace), Some(2));
        assert_eq!(between_answers("1  mmap(NULL) = 0\n"), None);
    }
}
