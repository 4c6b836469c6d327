//! The other end of a process that proves with one policy.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Arguments;

/// What one turn counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub seconds: f64,
    /// Page faults of each proof: from the end of the one before to its own.
    pub faults: Vec<u64>,
    /// Resident memory after each proof, in bytes.
    pub resident: Vec<u64>,
    pub major: Option<u64>,
    pub shootdowns: Option<u64>,
    pub peak: Option<u64>,
    pub large: Option<u64>,
    pub maps: u64,
    pub unmaps: u64,
    pub advices: u64,
}

impl Turn {
    pub fn to_line(&self) -> String {
        let list = |list: &[u64]| list.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let option = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let Self { seconds, maps, unmaps, advices, .. } = self;
        let [major, shootdowns, peak, large] = [self.major, self.shootdowns, self.peak, self.large].map(option);
        let (faults, resident) = (list(&self.faults), list(&self.resident));
        format!("{seconds} {faults} {resident} {major} {shootdowns} {peak} {large} {maps} {unmaps} {advices}")
    }

    pub fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let mut next = || words.next();
        let list = |text: &str| text.split(',').map(|item| item.parse().ok()).collect::<Option<Vec<u64>>>();
        let option = |text: &str| if text == "-" { Some(None) } else { text.parse().ok().map(Some) };
        Some(Self {
            seconds: next()?.parse().ok()?,
            faults: list(next()?)?,
            resident: list(next()?)?,
            major: option(next()?)?,
            shootdowns: option(next()?)?,
            peak: option(next()?)?,
            large: option(next()?)?,
            maps: next()?.parse().ok()?,
            unmaps: next()?.parse().ok()?,
            advices: next()?.parse().ok()?,
        })
    }
}

/// The middle one.
pub fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// A process that proves; it ends with its standard input.
pub struct Peer {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What the plan says that it takes.
    pub plan_bytes: u64,
}

/// The command that starts such a process.
pub fn arguments_of(arguments: &Arguments, policy: &str) -> Vec<std::ffi::OsString> {
    let mut list: Vec<std::ffi::OsString> =
        ["--serve", policy, "--circuit", &arguments.circuit, "--keys"].map(Into::into).to_vec();
    list.push(arguments.keys.clone().into());
    list
}

impl Peer {
    pub fn start(arguments: &Arguments, policy: &str) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments_of(arguments, policy));
        Self::of(command)
    }

    /// Starts a command that is such a process in the end.
    pub fn of(mut command: Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (orders, answers) = (child.stdin.take().ok_or("no input")?, child.stdout.take().ok_or("no output")?);
        let mut peer = Self { child, orders, answers: BufReader::new(answers), plan_bytes: 0 };
        let ready = peer.answer()?;
        peer.plan_bytes = ready.strip_prefix("ready ").ok_or("it is not ready")?.trim().parse()?;
        Ok(peer)
    }

    fn answer(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(format!("the process that proves ended: {}", self.child.wait()?).into());
        }
        Ok(line)
    }

    pub fn prove(&mut self, proofs: u32) -> Result<Turn, Box<dyn Error>> {
        writeln!(self.orders, "{proofs}")?;
        let line = self.answer()?;
        Turn::of_line(&line).ok_or_else(|| format!("not a turn: {line}").into())
    }

    pub fn end(self) -> Result<(), Box<dyn Error>> {
        let Self { mut child, orders, .. } = self;
        drop(orders);
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the process that proves failed: {status}").into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_returns_from_its_line() {
        let turn = Turn {
            seconds: 1.5,
            faults: vec![1, 2, 3],
            resident: vec![4096],
            major: None,
            shootdowns: Some(7),
            peak: Some(1 << 30),
            large: Some(0),
            maps: 1,
            unmaps: 2,
            advices: 3,
        };
        assert_eq!(Turn::of_line(&turn.to_line()), Some(turn));
        assert_eq!(Turn::of_line("1 2"), None);
        assert_eq!((median(vec![5, 1, 3]), median(Vec::new())), (Some(3), None));
    }
}
