//! What the ledger takes, and what it gives back.

use super::*;

fn slots(domain: u64, bytes: u64) -> Share {
    Share { what: What::Slots(Sizes { domain, ..Sizes::NONE }), bytes }
}

fn nothing(_: u64) -> bool {
    false
}

fn key(place: u64, bytes: u64) -> Share {
    Share { what: What::Brought(Thing::Kept(place)), bytes }
}

/// Nobody else waits.
fn admit(ledger: &mut Ledger, shares: &[Share]) -> Verdict {
    ledger.admit(shares, |_| false)
}

#[test]
fn what_jobs_share_counts_once() {
    let mut ledger = Ledger::new(100);
    let job = [key(1, 50), slots(1, 50)];
    assert!(ledger.ever_fits(&job));
    assert_eq!([admit(&mut ledger, &job), admit(&mut ledger, &job)], [Verdict::Admitted; 2]);
    assert_eq!(ledger.taken(), 100);
    ledger.release(&job, nothing);
    assert_eq!(ledger.taken(), 100, "the other job is still there");
    ledger.release(&job, nothing);
    assert_eq!(ledger.taken(), 50, "slots stay, the key goes with its last job");
    assert!(!ledger.ever_fits(&[key(1, 51), slots(1, 50)]));
}

#[test]
fn slots_that_nobody_uses_make_room_oldest_first() {
    let mut ledger = Ledger::new(100);
    for domain in [1, 2, 1] {
        assert_eq!(admit(&mut ledger, &[slots(domain, 40)]), Verdict::Admitted);
        ledger.release(&[slots(domain, 40)], nothing);
    }
    let sizes = |domain| What::Slots(Sizes { domain, ..Sizes::NONE });
    assert_eq!(admit(&mut ledger, &[slots(3, 60)]), Verdict::After(sizes(2)), "those of size 1 were used after them");
    assert_eq!(admit(&mut ledger, &[slots(3, 60)]), Verdict::Wait, "they are on their way");
    assert_eq!(admit(&mut ledger, &[slots(2, 40)]), Verdict::Wait, "and cannot be had meanwhile");
    ledger.left(&sizes(2));
    assert_eq!(admit(&mut ledger, &[slots(3, 60)]), Verdict::Admitted);
    assert_eq!(admit(&mut ledger, &[slots(2, 40)]), Verdict::After(sizes(1)));
    ledger.left(&sizes(1));
    assert_eq!(admit(&mut ledger, &[slots(2, 40)]), Verdict::Admitted);
}

#[test]
fn what_is_kept_stays_until_its_memory_is_wanted_oldest_first() {
    let mut ledger = Ledger::new(100);
    let everything = |_: u64| true;
    for number in [1, 2, 1] {
        assert_eq!(admit(&mut ledger, &[key(number, 40)]), Verdict::Admitted);
        ledger.release(&[key(number, 40)], everything);
    }
    assert_eq!(ledger.taken(), 80, "both keys are idle");
    assert_eq!(
        admit(&mut ledger, &[key(1, 40), key(3, 30)]),
        Verdict::After(What::Brought(Thing::Kept(2))),
        "what is wanted stays"
    );
    ledger.left(&What::Brought(Thing::Kept(2)));
    assert_eq!(admit(&mut ledger, &[key(1, 40), key(3, 30)]), Verdict::Admitted);
    assert_eq!(admit(&mut ledger, &[key(2, 40)]), Verdict::Wait, "what is used never goes");
    ledger.release(&[key(1, 40), key(3, 30)], |number| number == 3);
    assert_eq!(ledger.taken(), 30, "nobody keeps the first any more");
}

#[test]
fn what_is_used_is_never_sent_away() {
    let mut ledger = Ledger::new(100);
    assert_eq!(admit(&mut ledger, &[key(1, 30), slots(1, 40)]), Verdict::Admitted);
    assert_eq!(admit(&mut ledger, &[key(2, 30), slots(2, 40)]), Verdict::Wait);
    ledger.release(&[key(1, 30), slots(1, 40)], nothing);
    assert_eq!(
        admit(&mut ledger, &[key(2, 30), slots(1, 40)]),
        Verdict::Admitted,
        "idle slots of the size are used again"
    );
    assert_eq!(ledger.taken(), 70);
}

/// Every order of up to six arrivals and ends of three kinds of job: what is taken never exceeds the limit, and when all
/// jobs are over the next one is admitted after at most as many departures as there are sizes.
#[test]
fn every_short_history_stays_within_the_limit_and_ends() {
    let jobs: Vec<Vec<Share>> = (1..=3_u64).map(|size| vec![key(1, 20), slots(size, 30 * size.min(2))]).collect();
    let mut histories = 0;
    for code in 0..6_u32.pow(6) {
        let (mut ledger, mut live) = (Ledger::new(100), Vec::new());
        let mut rest = code;
        for _ in 0..6 {
            let (action, kind) = (rest % 6 / 3, (rest % 3) as usize);
            rest /= 6;
            if action == 0 {
                match admit(&mut ledger, &jobs[kind]) {
                    Verdict::Admitted => live.push(kind),
                    Verdict::After(what) => ledger.left(&what),
                    Verdict::Wait => assert!(!live.is_empty(), "nothing runs and nothing goes"),
                }
            } else if let Some(at) = live.iter().position(|one| *one == kind) {
                live.remove(at);
                ledger.release(&jobs[kind], nothing);
            }
            assert!(ledger.taken() <= 100);
        }
        live.drain(..).for_each(|kind| ledger.release(&jobs[kind], nothing));
        for job in &jobs {
            let mut departures = 0;
            while let Verdict::After(what) = admit(&mut ledger, job) {
                ledger.left(&what);
                departures += 1;
            }
            assert!(departures <= 3);
            assert!(job.iter().all(|share| ledger.taken.iter().any(|taken| taken.share == *share)));
            ledger.release(job, nothing);
        }
        histories += 1;
    }
    assert_eq!(histories, 46_656);
}

#[test]
fn what_is_on_its_way_out_counts_until_it_is_gone_whoever_ends_meanwhile() {
    let mut ledger = Ledger::new(100);
    let (idle, runs) = ([key(1, 60)], [key(2, 20)]);
    assert_eq!([admit(&mut ledger, &idle), admit(&mut ledger, &runs)], [Verdict::Admitted; 2]);
    ledger.release(&idle, |_| true);
    assert_eq!(admit(&mut ledger, &[key(3, 80)]), Verdict::After(What::Brought(Thing::Kept(1))));
    // Its keeper has let go, and the kernel has not got its memory yet.
    ledger.release(&runs, nothing);
    assert_eq!(ledger.taken(), 60);
    assert_eq!(admit(&mut ledger, &[key(3, 80)]), Verdict::Wait);
    ledger.left(&What::Brought(Thing::Kept(1)));
    assert_eq!(admit(&mut ledger, &[key(3, 80)]), Verdict::Admitted);
}

#[test]
fn what_others_wait_for_goes_last() {
    let mut ledger = Ledger::new(100);
    for number in [1, 2] {
        assert_eq!(admit(&mut ledger, &[key(number, 40)]), Verdict::Admitted);
        ledger.release(&[key(number, 40)], |_| true);
    }
    let (old, young) = (key(1, 40).what, key(2, 40).what);
    assert_eq!(ledger.admit(&[key(3, 90)], |what| *what == old), Verdict::After(young));
    assert_eq!(ledger.admit(&[key(3, 90)], |what| *what == old), Verdict::After(old), "and goes if it must");
}

#[test]
fn of_what_is_used_the_most_counts_and_of_what_is_idle_the_newest_word() {
    let mut ledger = Ledger::new(100);
    assert_eq!(admit(&mut ledger, &[slots(1, 40)]), Verdict::Admitted);
    assert_eq!(admit(&mut ledger, &[slots(1, 50)]), Verdict::Admitted, "workspaces for a key of another kind");
    assert_eq!(ledger.taken(), 50);
    assert_eq!(admit(&mut ledger, &[slots(1, 101)]), Verdict::Wait, "it would not fit");
    assert_eq!(admit(&mut ledger, &[slots(1, 30)]), Verdict::Admitted);
    assert_eq!(ledger.taken(), 50);
    (0..3).for_each(|_| ledger.release(&[slots(1, 0)], nothing));
    assert_eq!(admit(&mut ledger, &[slots(1, 30)]), Verdict::Admitted);
    assert_eq!(ledger.taken(), 30);
}

#[test]
fn what_is_supposed_of_a_key_counts_until_a_job_knows() {
    let mut ledger = Ledger::new(100);
    assert_eq!(admit(&mut ledger, &[key(1, 50)]), Verdict::Admitted);
    assert_eq!(ledger.supposed(&key(1, 90)), key(1, 50), "who supposes another size changes nothing");
    ledger.restate(&[key(1, 40), slots(1, 70)]);
    assert_eq!(ledger.taken(), 40);
    assert_eq!(admit(&mut ledger, &[key(1, 60)]), Verdict::Admitted, "a job that brings it knows");
    assert_eq!(ledger.taken(), 60);
    (0..2).for_each(|_| ledger.release(&[key(1, 0)], |_| true));
    assert_eq!(ledger.supposed(&key(1, 90)), key(1, 90), "of what is idle the newest word counts");
}

#[test]
fn limits_of_the_need_and_one_byte_less() {
    let job = [Share { what: What::Program, bytes: 7 }, slots(1, 30), key(1, 63)];
    assert!(Ledger::new(100).ever_fits(&job) && !Ledger::new(99).ever_fits(&job));
    assert_eq!(admit(&mut Ledger::new(100), &job), Verdict::Admitted);
    assert_eq!(admit(&mut Ledger::new(99), &job), Verdict::Wait);
    let endless = [key(1, u64::MAX), slots(1, u64::MAX)];
    assert!(!Ledger::new(u64::MAX - 1).ever_fits(&endless));
    assert_eq!(admit(&mut Ledger::new(u64::MAX - 1), &endless), Verdict::Wait);
    assert_eq!(admit(&mut Ledger::new(0), &[]), Verdict::Admitted);
    assert_eq!(admit(&mut Ledger::new(0), &[slots(1, 0)]), Verdict::Admitted, "a circuit that takes nothing");
}
