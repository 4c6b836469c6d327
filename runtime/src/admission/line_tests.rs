//! Who goes when: orders, reservations, and that nobody waits for ever.

use super::*;
use crate::stage::{Sizes, Thing};

fn key(place: u64, bytes: u64) -> Share {
    Share { what: What::Brought(Thing::Kept(place)), bytes }
}

fn slots(domain: u64, bytes: u64) -> Share {
    Share { what: What::Slots(Sizes { domain, ..Sizes::NONE }), bytes }
}

fn nothing(_: u64) -> bool {
    false
}

fn ends(line: &mut Line, job: u64) {
    line.ended(|other| other != JobId(job), |_| true);
}

/// All steps up to the next wait.
fn steps(line: &mut Line) -> Vec<Step> {
    std::iter::from_fn(|| Some(line.step(nothing)).filter(|step| *step != Step::Wait)).collect()
}

#[test]
fn a_key_counts_from_its_reservation_on_and_goes_if_it_is_given_up() {
    let mut line = Line::new(100);
    let first = line.reserve(vec![key(1, 70)]);
    assert_eq!(steps(&mut line), [Step::Reserved(first)]);
    assert!(line.is_reserved(first) && line.ledger().taken() == 70);
    let second = line.reserve(vec![key(2, 70)]);
    assert_eq!(steps(&mut line), [], "there is no room for both");
    // A file that is cut off: the ledger is as before.
    line.give_up(first, nothing);
    assert!(!line.is_reserved(first));
    assert_eq!(line.ledger().taken(), 0);
    assert_eq!(steps(&mut line), [Step::Reserved(second)]);
    line.give_up(second, nothing);
    line.give_up(second, nothing);
    assert_eq!((line.ledger().taken(), line.is_waited_in()), (0, false));
}

#[test]
fn the_job_has_the_place_of_its_reservation_and_says_what_it_takes() {
    let mut line = Line::new(100);
    let number = line.reserve(vec![key(1, 50)]);
    line.step(nothing);
    line.job(JobId(1), vec![slots(9, 100)]);
    assert_eq!(steps(&mut line), [], "it came later, and does not fit");
    // The key was smaller than its file; what was reserved beside it still counts.
    let wants = line.with_reserved(number, vec![slots(1, 60), key(1, 40)]);
    line.job_in(number, JobId(2), wants);
    assert_eq!(steps(&mut line), [Step::Admitted(JobId(2))]);
    assert_eq!(line.ledger().taken(), 100);
    ends(&mut line, 2);
    assert_eq!(line.ledger().taken(), 100, "idle, and kept");
    let (of_slots, of_key) = (slots(1, 0).what, key(1, 0).what);
    assert_eq!(steps(&mut line), [Step::After(of_slots), Step::After(of_key)]);
    [of_slots, of_key].iter().for_each(|what| line.left(what));
    assert_eq!(steps(&mut line), [Step::Admitted(JobId(1))]);
}

#[test]
fn what_was_reserved_and_is_not_brought_counts_as_the_jobs() {
    let mut line = Line::new(100);
    let number = line.reserve(vec![key(1, 50)]);
    line.step(nothing);
    let wants = line.with_reserved(number, vec![key(2, 60)]);
    assert_eq!(wants, [key(2, 60), key(1, 50)]);
    assert!(!line.ledger().ever_fits(&wants), "so that it is refused, and does not wait for itself");
}

#[test]
fn while_something_is_loaded_others_go_on_and_then_nobody_overtakes() {
    let mut line = Line::new(100);
    let loads = line.reserve(vec![key(1, 40)]);
    line.step(nothing);
    for job in 1..=2 {
        line.job(JobId(job), vec![slots(2, 30)]);
        assert_eq!(steps(&mut line), [Step::Admitted(JobId(job))]);
    }
    let wants = line.with_reserved(loads, vec![key(1, 40), slots(1, 60)]);
    line.job_in(loads, JobId(3), wants);
    line.job(JobId(4), vec![slots(2, 30)]);
    assert_eq!(steps(&mut line), [], "the loaded one is first, and waits for two jobs");
    ends(&mut line, 1);
    assert_eq!(steps(&mut line), []);
    ends(&mut line, 2);
    assert_eq!(steps(&mut line), [Step::After(slots(2, 0).what)]);
    line.left(&slots(2, 0).what);
    assert_eq!(steps(&mut line), [Step::Admitted(JobId(3))]);
}

#[test]
fn two_who_load_the_same_share_it_and_another_key_waits() {
    let mut line = Line::new(100);
    let same = [line.reserve(vec![key(1, 40)]), line.reserve(vec![key(1, 40)])];
    assert_eq!(steps(&mut line), same.map(Step::Reserved));
    assert_eq!(line.ledger().taken(), 40);
    let other = line.reserve(vec![key(2, 40)]);
    assert_eq!(steps(&mut line), [], "there would be room, but both could not have their slots");
    let third = line.reserve(vec![key(1, 40)]);
    assert_eq!(steps(&mut line), [], "nobody overtakes a reservation");
    // The first one's file is broken; the second tries again.
    line.give_up(same[0], nothing);
    assert_eq!(line.ledger().taken(), 40);
    line.job_in(same[1], JobId(1), vec![key(1, 40), slots(1, 60)]);
    assert_eq!(steps(&mut line), [Step::Admitted(JobId(1))]);
    ends(&mut line, 1);
    assert_eq!(steps(&mut line), [Step::After(slots(1, 0).what)]);
    line.left(&slots(1, 0).what);
    assert_eq!(steps(&mut line), [Step::Reserved(other)]);
    line.give_up(other, nothing);
    assert_eq!(steps(&mut line), [Step::Reserved(third)]);
}

/// Two have the same key and suppose that it is larger than it is: neither waits for what the other supposes.
#[test]
fn what_one_knows_of_a_key_all_know() {
    let mut line = Line::new(100);
    let same = [line.reserve(vec![key(1, 50)]), line.reserve(vec![key(1, 60)])];
    assert_eq!(steps(&mut line), same.map(Step::Reserved));
    assert_eq!(line.ledger().taken(), 50);
    for (number, job) in same.into_iter().zip([1, 2]) {
        let wants = line.with_reserved(number, vec![key(1, 40), slots(1, 60)]);
        line.job_in(number, JobId(job), wants);
    }
    assert_eq!(steps(&mut line), [1, 2].map(|job| Step::Admitted(JobId(job))));
}

#[test]
fn a_job_that_ends_while_it_waits_gives_back_what_was_reserved() {
    let mut line = Line::new(100);
    line.job(JobId(1), vec![slots(1, 80)]);
    line.step(nothing);
    let number = line.reserve(vec![key(1, 20)]);
    line.step(nothing);
    line.job_in(number, JobId(2), vec![key(1, 20), slots(2, 80)]);
    assert_eq!(steps(&mut line), []);
    line.ended(|job| job == JobId(1), nothing);
    assert_eq!((line.ledger().taken(), line.is_waited_in()), (80, false));
}

#[test]
fn what_somebody_holds_or_waits_for_goes_last() {
    let mut line = Line::new(100);
    for place in 1..=3 {
        line.job(JobId(place), vec![key(place, 30)]);
        line.step(nothing);
        line.ended(|_| false, |_| true);
    }
    line.job(JobId(4), vec![key(4, 100)]);
    // Behind it, somebody waits for the second.
    line.reserve(vec![key(2, 30)]);
    let mut order = Vec::new();
    while let Step::After(What::Brought(Thing::Kept(place))) = line.step(|place| place == 1) {
        order.push(place);
        line.left(&key(place, 0).what);
    }
    assert_eq!(order, [3, 1, 2], "to let go of the first frees nothing, and the second will be wanted");
}

/// Every history of five events of seven kinds, for keys that fit together and slots that do not: what is taken never exceeds
/// the limit, and when those who load are done (in every one of three ways) all jobs come to their turn.
#[test]
fn after_every_short_history_everybody_comes_to_his_turn() {
    let kinds: [Vec<Share>; 2] = [vec![key(1, 40), slots(1, 60)], vec![key(2, 40), slots(2, 50)]];
    let events = 7_u32;
    for code in 0..3 * events.pow(5) {
        let (way, mut rest) = (code % 3, code / 3);
        let mut world = World { line: Line::new(100), loading: Vec::new(), running: Vec::new(), next: 0 };
        for _ in 0..5 {
            let (event, kind) = (rest % events, (rest % events % 2) as usize);
            rest /= events;
            match event {
                0 | 1 => world.submits(kinds[kind].clone()),
                2 | 3 => {
                    world.line.reserve(vec![kinds[kind][0].clone()]);
                }
                4 => world.loads(&kinds, 0),
                5 => world.fails(),
                _ => world.ends(),
            }
            world.goes_on();
        }
        loop {
            world.goes_on();
            if !world.running.is_empty() {
                world.ends();
            } else if !world.loading.is_empty() {
                // The first, or the last, or none comes with a job.
                match way {
                    0 => world.loads(&kinds, 0),
                    1 => world.loads(&kinds, world.loading.len() - 1),
                    _ => world.fails(),
                }
            } else {
                break;
            }
        }
        assert!(!world.line.is_waited_in(), "history {code}: {:?}", world.line);
    }
}

struct World {
    line: Line,
    /// Granted, and what they are for.
    loading: Vec<u64>,
    running: Vec<u64>,
    next: u64,
}

impl World {
    fn goes_on(&mut self) {
        loop {
            match self.line.step(nothing) {
                Step::Admitted(JobId(job)) => self.running.push(job),
                Step::Reserved(number) => self.loading.push(number),
                Step::After(what) => self.line.left(&what),
                Step::Wait => break,
            }
            assert!(self.line.ledger().taken() <= 100, "{:?}", self.line);
        }
    }

    fn submits(&mut self, wants: Vec<Share>) {
        self.next += 1;
        self.line.job(JobId(self.next), wants);
    }

    fn loads(&mut self, kinds: &[Vec<Share>; 2], at: usize) {
        if at < self.loading.len() {
            let number = self.loading.remove(at);
            let reserved = self.line.with_reserved(number, Vec::new());
            let kind = kinds.iter().find(|kind| kind[0].what == reserved[0].what).unwrap();
            self.next += 1;
            let wants = self.line.with_reserved(number, kind.clone());
            self.line.job_in(number, JobId(self.next), wants);
        }
    }

    fn fails(&mut self) {
        if let Some(number) = self.loading.pop() {
            self.line.give_up(number, |_| true);
        }
    }

    fn ends(&mut self) {
        if let Some(job) = self.running.pop() {
            self.line.ended(|other| other != JobId(job), |_| true);
        }
    }
}
