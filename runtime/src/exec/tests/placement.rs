//! Bindings that hold, and those that cannot be had.

use super::*;
use crate::plan::{Ccds, Group, Share};

/// The diamond's stages in a group of one CCD of this machine.
struct Pinned<const DEMAND: bool>;

impl<const DEMAND: bool> Graph for Pinned<DEMAND> {
    type Job = TestJob;
    type Output = Words;

    fn plan() -> Plan {
        let mut plan = diamond(1, 1, 1);
        let insist = if DEMAND { Insist::Demand } else { Insist::Prefer };
        plan.groups = vec![Group {
            name: "msm".into(),
            ccds: Ccds::All,
            share: Share::Pack,
            exclusive: false,
            insist,
            smt: false,
        }];
        plan.stages[1].group = Some(0);
        plan.stages[1].tags = Tags::CCD_PINNED;
        plan
    }

    fn wire(wiring: &mut Wiring<'_, TestJob, Words>) {
        Diamond::<1, 1, 1>::wire(wiring);
    }
}

#[test]
fn bindings_are_read_back() {
    let running = start::<Pinned<true>>();
    let pinned = running.bindings().iter().find(|binding| binding.stage == "left").unwrap();
    assert_eq!(pinned.bound, Some(Bound::Holds(pinned.cpus.clone())));
    assert!(pinned.threads > 0);
    let free = running.bindings().iter().find(|binding| binding.stage == "right").unwrap();
    assert_eq!(free.bound, None);
}

#[test]
fn a_demanded_binding_that_cannot_be_had_fails_the_start() {
    let machine = Some(Hwloc::synthetic("l3:2 core:2 pu:1").unwrap());
    let error = Running::start::<Pinned<true>>(Options { machine, ..Options::default() }).err().unwrap();
    assert_eq!(
        error.to_string(),
        "stage `left` worker 0: this machine is only described, its threads cannot be bound; the group demands its \
         binding: write `insist: Prefer` to go without"
    );
}

#[test]
fn a_preferred_binding_that_cannot_be_had_is_noted_and_the_work_done() {
    let machine = Some(Hwloc::synthetic("l3:2 core:2 pu:1").unwrap());
    let running = Running::start::<Pinned<false>>(Options { machine, ..Options::default() }).unwrap();
    assert_eq!(
        running.notes(),
        ["group `msm` prefers its binding, but this machine is only described, its threads cannot be bound"]
    );
    assert_eq!(words(running.submit(TestJob::new(1, 2)).unwrap().wait()), expected(1, 2));
}
