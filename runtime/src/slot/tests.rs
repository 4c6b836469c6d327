//! The life of slots: home wiped, used again, freed.

use super::free_list::Made;
use super::*;
use crate::arena::{Memory, Slots};
use crate::plan::GiveBack;
use crate::sync::Mutex;

struct Secret(Vec<u8>);

impl Token for Secret {
    const NAME: &'static str = "Secret";
    type Shape = usize;
    fn with_shape(shape: &usize) -> Self {
        Self(vec![0; *shape])
    }
    fn shape(&self) -> usize {
        self.0.len()
    }
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
    fn wipe(&mut self) {
        self.0.fill(0);
    }
}

struct StraightHome;

impl WayHome for StraightHome {
    fn send(&self, _: TokenKey, dead: Dead) {
        dead.go_home();
    }
}

fn recycling(limit: usize) -> Arc<FreeList<Secret>> {
    FreeList::new(limit, &Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AllFirst, None)))
}

fn way_home() -> Arc<dyn WayHome> {
    Arc::new(StraightHome)
}

#[test]
fn the_last_reader_sends_the_slot_home_wiped() {
    let free = recycling(2);
    let mut token = Slot::new(&free, Sizes::NONE, None).take(&4);
    token.0.fill(7);
    let address = token.0.as_ptr();
    let key = TokenKey { job: crate::key::JobId(0), partition: 0 };
    let first = Shared::new(key, token, &free, &way_home(), None);
    let second = first.clone();
    drop(first);
    assert_eq!(second.0.token.as_ref().map(|t| t.0[0]), Some(7), "one reader is left");
    assert_eq!(free.lock().home.len(), 1, "the other of the two slots that were made");
    drop(second);
    let again = Slot::new(&free, Sizes::NONE, None).take(&4);
    assert_eq!(again.0, [0; 4]);
    assert_eq!(again.0.as_ptr(), address, "the memory is recycled");
}

#[test]
fn the_first_slot_of_a_shape_makes_all_and_no_other_makes_any() {
    let free = recycling(3);
    let take = |shape: usize| Slot::new(&free, Sizes::NONE, None).take(&shape);
    let taken = [take(4), take(4), take(4)];
    let known = || {
        let slots = free.lock();
        (slots.home.len(), slots.made.clone())
    };
    let made = |shape, count| Made { shape, count, of: vec![Sizes::NONE] };
    assert_eq!(known(), (0, vec![made(4, 3)]));
    drop(taken);
    assert_eq!(take(4).shape(), 4, "what failed firings lost is made anew");
    assert_eq!(take(8).shape(), 8);
    assert_eq!(known(), (2, vec![made(4, 4), made(8, 3)]), "a slot of another shape is not given");
}

#[test]
fn slots_are_made_as_needed_unless_all_are_wanted() {
    let memory = Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AsNeeded, None));
    let free = FreeList::<Secret>::new(3, &memory);
    let take = || Slot::new(&free, Sizes::NONE, None).take(&4);
    let made = || free.lock().made.iter().map(|made| made.count).collect::<Vec<_>>();
    free.put(take());
    free.put(take());
    assert_eq!(made(), [1], "one after the other is one");
    let two = [take(), take()];
    assert_eq!(made(), [2]);
    two.into_iter().for_each(|token| free.put(token));
    assert_eq!(free.lock().home.len(), 2);
}

#[test]
fn idle_slots_of_a_size_leave_through_dealloc_and_no_others() {
    let memory = Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AllFirst, None));
    let free = FreeList::<Secret>::new(2, &memory);
    let of = |domain| Sizes { domain, ..Sizes::NONE };
    let take = |shape: usize, domain| Slot::new(&free, of(domain), None).take(&shape);
    [(4, 1), (8, 2)].into_iter().for_each(|(shape, domain)| free.put(take(shape, domain)));
    drop(Slot::new(&free, of(1), None).workspace(|_: &u8| true, |_| 1_u8));
    let in_use = take(4, 1);
    let idle = Arc::clone(&memory);
    Dead::idle(move || idle.trim(&of(1)), Box::new(())).go_home();
    let shapes = || free.lock().home.iter().map(|(shape, _)| *shape).collect::<Vec<_>>();
    assert_eq!(shapes(), [8, 8]);
    assert_eq!(*Slot::new(&free, of(1), None).workspace(|_: &u8| true, |_| 2), 2, "the workspace is gone");
    free.put(in_use);
    assert_eq!(shapes(), [8, 8], "what was in use follows");
}

#[test]
fn a_freeing_graph_keeps_nothing() {
    for dealloc in [Dealloc::BoundedFree, Dealloc::UnboundedFree] {
        let free = FreeList::<Secret>::new(2, &Arc::new(Memory::new(dealloc, GiveBack::Unmap, Slots::AllFirst, None)));
        let token = Slot::new(&free, Sizes::NONE, None).take(&4);
        let key = TokenKey { job: crate::key::JobId(0), partition: 0 };
        let (hold, held) = std::sync::mpsc::channel::<()>();
        drop(Shared::new(key, token, &free, &way_home(), Some(Box::new(Mutex::new(hold)))));
        // What is held comes back when the slot is gone, on whatever thread.
        assert!(held.recv().is_err());
        assert!(free.lock().home.is_empty());
    }
}

#[test]
fn workspaces_are_kept_by_kind_and_fit() {
    let free = recycling(1);
    let slot = Slot::new(&free, Sizes::NONE, None);
    let take = |len: usize| slot.workspace(|kept: &Vec<u8>| kept.len() == len, |_| vec![7; len]);
    let (first, second) = (take(3), take(3));
    let addresses = [first.as_ptr(), second.as_ptr()];
    drop((first, second));
    let again = take(3);
    assert!(addresses.contains(&again.as_ptr()));
    assert_eq!(take(4).len(), 4);
    assert_eq!(slot.workspace(|_: &String| true, |_| "another kind".to_owned()).len(), 12);
}

/// Circuits of different sizes may have slots of one shape: the size of the domain is that of many.
#[test]
fn slots_that_other_sizes_share_stay_when_one_is_sent_away() {
    let memory = Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AllFirst, None));
    let free = FreeList::<Secret>::new(3, &memory);
    let of = |domain| Sizes { domain, ..Sizes::NONE };
    let take = |domain| Slot::new(&free, of(domain), None).take(&4);
    let (first, second) = (take(1), take(2));
    free.put(first);
    let home = || free.lock().home.len();
    assert_eq!(home(), 2);
    memory.trim(&of(1));
    assert_eq!(home(), 2, "the other size's jobs use them");
    free.put(second);
    assert_eq!(home(), 3, "no more than the plan has");
    memory.trim(&of(2));
    assert_eq!((home(), free.lock().made.len()), (0, 0));
}

/// Jobs of a size come again while slots of it are still on their way from before it was sent away.
#[test]
fn what_comes_home_late_is_not_one_too_many() {
    let memory = Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AllFirst, None));
    let free = FreeList::<Secret>::new(2, &memory);
    let take = || Slot::new(&free, Sizes::NONE, None).take(&4);
    let late = [take(), take()];
    memory.trim(&Sizes::NONE);
    let fresh = [take(), take()];
    late.into_iter().chain(fresh).for_each(|token| free.put(token));
    assert_eq!(free.lock().home.len(), 2);
}

/// A stage may do with a dead slot what it likes: it is wiped, and what was to be let go of goes.
#[test]
fn dead_slots_that_are_merely_dropped_are_gone_all_the_same() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static WIPED: AtomicUsize = AtomicUsize::new(0);

    struct Watched;

    impl Token for Watched {
        const NAME: &'static str = "Watched";
        type Shape = ();
        fn with_shape((): &()) -> Self {
            Self
        }
        fn shape(&self) {}
        fn bytes(&self) -> u64 {
            7
        }
        fn wipe(&mut self) {
            WIPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What a `dealloc` stage that fails leaves.
    struct Dropped;

    impl WayHome for Dropped {
        fn send(&self, _: TokenKey, dead: Dead) {
            assert_eq!((dead.bytes(), dead.token()), (7, "Watched"));
            drop(dead);
        }
    }

    let memory = Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AsNeeded, None));
    let free = FreeList::<Watched>::new(1, &memory);
    let key = TokenKey { job: crate::key::JobId(0), partition: 0 };
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let way: Arc<dyn WayHome> = Arc::new(Dropped);
    drop(Shared::new(key, Watched, &free, &way, Some(Box::new(Mutex::new(hold)))));
    assert_eq!((WIPED.load(Ordering::Relaxed), free.lock().home.len()), (1, 0));
    assert!(held.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected));
    for order in [Dead::go_home, Dead::free, drop] {
        let (went, gone) = std::sync::mpsc::channel();
        order(Dead::idle(move || went.send(7).unwrap(), Box::new(())));
        assert_eq!(gone.try_recv(), Ok(7));
    }
}

/// Keys of two kinds want workspaces of different lengths for circuits of one size: what a worker keeps is one of them.
#[test]
fn a_workspace_that_does_not_fit_makes_room_for_the_one_that_does() {
    let free = recycling(1);
    let slot = Slot::new(&free, Sizes::NONE, None);
    let other_size = Slot::new(&free, Sizes { domain: 1, ..Sizes::NONE }, None);
    let made = std::cell::Cell::new(0);
    let take = |slot: &Slot<'_, Secret>, len: usize| {
        let make = |_: &Arena| {
            made.set(made.get() + 1);
            vec![7_u8; len]
        };
        drop(slot.workspace(|kept: &Vec<u8>| kept.len() == len, make));
        made.get()
    };
    assert_eq!([take(&slot, 3), take(&slot, 3), take(&slot, 4)], [1, 1, 2]);
    assert_eq!(take(&slot, 3), 3, "the first was dropped for the second");
    assert_eq!([take(&other_size, 5), take(&slot, 3)], [4, 4], "those of other sizes are not touched");
}
