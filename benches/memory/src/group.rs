//! A control group whose memory is limited just above and just below what the plan takes.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::peer::{Peer, arguments_of};
use crate::table::Table;
use crate::{Arguments, POLICIES};

const ABOVE: &str = "memory limit just above the plan (cgroup v1)";
const BELOW: &str = "memory limit just below the plan (cgroup v1)";

/// How far above and below.
const STEP: u64 = 16 << 20;

pub fn rows(arguments: &Arguments, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let plan = {
        let peer = Peer::start(arguments, POLICIES[0])?;
        let bytes = peer.plan_bytes;
        peer.end()?;
        bytes
    };
    let group = match Group::new(plan + STEP) {
        Ok(group) => group,
        Err(why) => {
            for what in [ABOVE, BELOW] {
                table.unknown(what, &format!("no memory control group can be made here: {why}"));
            }
            return Ok(());
        }
    };
    let mut peer = Peer::of(group.command(arguments)?)?;
    let turn = peer.prove(CONCURRENT_TURN);
    let ended = peer.end();
    let made = turn.as_ref().map_or(0, |turn| turn.faults.len());
    let words = format!("{made} of {CONCURRENT_TURN} proofs under {} MiB", (plan + STEP) >> 20);
    table.words(ABOVE, &words, "completes", Some(turn.is_ok() && ended.is_ok()));
    group.limit(plan - STEP)?;
    let output =
        group.command(arguments)?.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let output = {
        use std::io::Write;
        let mut output = output;
        if let Some(mut orders) = output.stdin.take() {
            // A process that refuses to work has no ear for orders.
            let _ = writeln!(orders, "1");
        }
        output.wait_with_output()?
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let refused =
        !output.status.success() && said.contains("NoMemory") && !String::from_utf8_lossy(&output.stdout).contains(',');
    let words = if refused { "refused before work starts" } else { "not refused" };
    table.words(BELOW, words, "refused", Some(refused));
    if !refused {
        eprintln!("{said}");
    }
    Ok(())
}

/// Enough that all slots are in use.
const CONCURRENT_TURN: u32 = 6;

/// A control group of version 1, gone when dropped.
struct Group(PathBuf);

impl Group {
    fn new(bytes: u64) -> Result<Self, Box<dyn Error>> {
        let folder = Path::new("/sys/fs/cgroup/memory").join(format!("proofline-bench-{}", std::process::id()));
        if !Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists() {
            return Err("there is no version 1 of the memory controller".into());
        }
        std::fs::create_dir(&folder)?;
        let group = Self(folder);
        group.limit(bytes)?;
        Ok(group)
    }

    fn limit(&self, bytes: u64) -> std::io::Result<()> {
        std::fs::write(self.0.join("memory.limit_in_bytes"), bytes.to_string())
    }

    /// A process that proves, started inside the group.
    fn command(&self, arguments: &Arguments) -> Result<Command, Box<dyn Error>> {
        let mut command = Command::new("sh");
        // The shell enters the group and becomes the process.
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        command.arg(std::env::current_exe()?).args(arguments_of(arguments, POLICIES[0]));
        Ok(command)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that still has a process in it stays; there is nobody to tell.
        let _ = std::fs::remove_dir(&self.0);
    }
}
