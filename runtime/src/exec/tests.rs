//! The diamond `source → {left, right} → sink` with tokens that carry their own key: a join that paired the wrong
//! partitions, or a recycled slot that kept another job's word, shows in the output.

mod faults;
mod halves;
mod handles;
mod memory;
mod placement;

use std::time::Duration;

use super::*;
use crate::error::StageError;
use crate::exec::firing::Firing;
use crate::key::TokenKey;
use crate::slot::{Dead, Shared, Token};
use crate::stage::{DeallocStage, Port, Sizes, Stage, TakesAt};
use crate::testing::diamond;

/// What a job does to one of its firings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Error,
    Panic,
}

struct TestJob {
    partitions: u32,
    salt: u64,
    size: usize,
    /// Bytes beside its tokens.
    memory: u64,
    faults: Vec<(&'static str, u32, Fault)>,
    delay_seed: Option<u64>,
    /// Blocks the source until the other end is dropped.
    gate: Option<crossbeam_channel::Receiver<()>>,
}

impl TestJob {
    fn new(salt: u64, partitions: u32) -> Self {
        Self { partitions, salt, size: 4, memory: 0, faults: Vec::new(), delay_seed: None, gate: None }
    }

    fn act(&self, stage: &'static str, key: TokenKey) -> Result<(), StageError> {
        if let Some(seed) = self.delay_seed {
            let mix = (seed ^ u64::from(key.partition) << 8 ^ stage.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            std::thread::sleep(Duration::from_micros(mix >> 56));
        }
        let fault = self.faults.iter().find(|(at, partition, _)| (*at, *partition) == (stage, key.partition));
        match fault {
            Some((_, _, Fault::Error)) => Err(StageError::new("as told")),
            Some((_, _, Fault::Panic)) => panic!("as told, loudly"),
            None => Ok(()),
        }
    }

    fn word(&self, key: TokenKey) -> u64 {
        self.salt * 1000 + u64::from(key.partition)
    }
}

impl Job for TestJob {
    fn partitions(&self) -> u32 {
        self.partitions
    }
    fn sizes(&self) -> Sizes {
        Sizes { aux: self.size as u64, ..Sizes::default() }
    }
    fn workspace(&self, stage: &str, _: usize) -> u64 {
        if stage == "source" { self.memory } else { 0 }
    }
}

/// A slot of words.
struct Words(Vec<u64>);

impl Token for Words {
    const NAME: &'static str = "Words";
    type Shape = usize;
    fn with_shape(shape: &usize) -> Self {
        Self(vec![0; *shape])
    }
    fn shape(&self) -> usize {
        self.0.len()
    }
    fn bytes(&self) -> u64 {
        8 * self.0.len() as u64
    }
    fn wipe(&mut self) {
        self.0.fill(0);
    }
}

macro_rules! test_stage {
    ($name:ident, $text:literal, $in:ty, |$inputs:ident| $words:expr) => {
        struct $name;

        impl Stage for $name {
            type Job = TestJob;
            type In = $in;
            type Out = Words;
            type Pending = Words;
            const NAME: &'static str = $text;
            const BACKEND: &'static str = "host";
            const TAGS: Tags = Tags::NONE;
            const PORTS: &'static [Port] = &[];

            fn start(firing: &Firing<'_, Self>, inputs: &$in) -> Result<Words, StageError> {
                let job = firing.job();
                if $text == "source"
                    && let Some(gate) = &job.gate
                {
                    // Ends when the test drops its end.
                    let _ = gate.recv();
                }
                job.act($text, firing.key())?;
                let $inputs = inputs;
                let expected = job.word(firing.key());
                let words: Vec<u64> = $words;
                let mut out = firing.slot().take(&job.size);
                let whole = words.iter().all(|word| *word == expected);
                out.0.fill(if whole || words.is_empty() { expected } else { u64::MAX });
                Ok(out)
            }

            fn finish(_: &Firing<'_, Self>, _: &$in, pending: Words) -> Result<Words, StageError> {
                Ok(pending)
            }
        }
    };
}

test_stage!(Source, "source", (), |_inputs| Vec::new());
test_stage!(Left, "left", (Shared<Words>,), |inputs| inputs.0.0.clone());
test_stage!(Right, "right", (Shared<Words>,), |inputs| inputs.0.0.clone());
test_stage!(Sink, "sink", (Shared<Words>, Shared<Words>), |inputs| {
    inputs.0.0.iter().chain(&inputs.1.0).copied().collect()
});

impl TakesAt<0> for Left {
    type Takes = Words;
}

struct Home;

impl DeallocStage for Home {
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::UNMAPS;
    fn dealloc(dead: Dead, _: &crate::capability::DeallocPermit) -> Result<(), StageError> {
        dead.go_home();
        Ok(())
    }
}

/// A diamond of one capacity, number of workers, number of `heavy` permits.
struct Diamond<const CAPACITY: u32, const WORKERS: u32, const HEAVY: u64>;

impl<const CAPACITY: u32, const WORKERS: u32, const HEAVY: u64> Graph for Diamond<CAPACITY, WORKERS, HEAVY> {
    type Job = TestJob;
    type Output = Words;

    fn plan() -> Plan {
        diamond(CAPACITY, WORKERS, HEAVY)
    }

    fn wire(wiring: &mut Wiring<'_, TestJob, Words>) {
        wire_diamond::<Home>(wiring);
    }
}

/// The stages of a diamond, with a `dealloc` of one's choice.
fn wire_diamond<D: DeallocStage>(wiring: &mut Wiring<'_, TestJob, Words>) {
    let (to_left, left) = wiring.edge::<Words>(0);
    let (to_right, right) = wiring.edge::<Words>(1);
    let (from_left, sink_left) = wiring.edge::<Words>(2);
    let (from_right, sink_right) = wiring.edge::<Words>(3);
    wiring.stage::<Source, _>(0, (), vec![to_left, to_right]);
    wiring.stage::<Left, _>(1, (left,), vec![from_left]);
    wiring.stage::<Right, _>(2, (right,), vec![from_right]);
    wiring.sink::<Sink>(3, (sink_left, sink_right));
    wiring.dealloc::<D>(DEALLOC);
}

/// The position of `dealloc` in a diamond.
const DEALLOC: usize = 4;

fn start<G: Graph<Job = TestJob, Output = Words>>() -> Running<TestJob, Words> {
    Running::start::<G>(Options::default()).unwrap()
}

fn words(result: Result<Vec<Words>, crate::error::Failure>) -> Vec<u64> {
    result.unwrap().into_iter().map(|words| words.0[0]).collect()
}

fn expected(salt: u64, partitions: u32) -> Vec<u64> {
    (0..u64::from(partitions)).map(|partition| salt * 1000 + partition).collect()
}

#[test]
fn outputs_come_in_the_order_of_the_partitions() {
    let running = start::<Diamond<2, 3, 2>>();
    let handle = running.submit(TestJob::new(7, 20)).unwrap();
    assert_eq!(words(handle.wait()), expected(7, 20));
    running.drain();
    assert!(running.is_idle());
}
