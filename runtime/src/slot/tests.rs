//! The life of slots: home wiped, used again, freed.

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
    assert_eq!(known(), (0, vec![(4, 3, Sizes::NONE)]));
    drop(taken);
    assert_eq!(take(4).shape(), 4, "what failed firings lost is made anew");
    assert_eq!(take(8).shape(), 8);
    assert_eq!(known(), (2, vec![(4, 4, Sizes::NONE), (8, 3, Sizes::NONE)]), "a slot of another shape is not given");
}

#[test]
fn slots_are_made_as_needed_unless_all_are_wanted() {
    let memory = Arc::new(Memory::new(Dealloc::Recycle, GiveBack::Unmap, Slots::AsNeeded, None));
    let free = FreeList::<Secret>::new(3, &memory);
    let take = || Slot::new(&free, Sizes::NONE, None).take(&4);
    let made = || free.lock().made.clone();
    free.put(take());
    free.put(take());
    assert_eq!(made(), [(4, 1, Sizes::NONE)], "one after the other is one");
    let two = [take(), take()];
    assert_eq!(made(), [(4, 2, Sizes::NONE)]);
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
