//! What is loaded when, kept how long, and found under what name.

use std::sync::Barrier;

use super::*;

fn place(residents: &Residents, name: &str) -> u64 {
    match residents.need(name, "", 0).thing {
        Thing::Kept(place) => place,
        Thing::At(address) => panic!("{address} is no place"),
    }
}

#[test]
fn a_thing_is_loaded_once_until_it_is_let_go() {
    let residents = Residents::new();
    assert_eq!(residents.get("key", || Err::<u64, _>("no file")), Err("no file"));
    assert_eq!(residents.names(), [""; 0], "what failed is not there");
    let first = residents.get("key", || Ok::<_, ()>(7_u64)).unwrap();
    let again = residents.get::<u64, ()>("key", || panic!("it is there")).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    let own = place(&residents, "key");
    assert!(residents.keeps(own) && !residents.keeps(own + 1));
    assert_eq!(residents.place_of(Arc::as_ptr(&first) as usize), Some(own));
    residents.let_go(own + 1);
    assert_eq!((residents.names(), residents.is_held(own)), (vec!["key".to_owned()], true));
    residents.let_go(own);
    assert!(!residents.keeps(own) && residents.names().is_empty());
    assert_eq!(Arc::strong_count(&first), 2, "only its users have it now");
    drop((first, again));
    assert_eq!(*residents.get("key", || Ok::<_, ()>(8_u64)).unwrap(), 8);
}

/// What went while a job still has it is not loaded a second time beside it, and is known by its place.
#[test]
fn what_somebody_still_has_is_resident_again_when_it_is_asked_for() {
    let residents = Residents::new();
    let users = residents.get("key", || Ok::<_, ()>(7_u64)).unwrap();
    let (own, address) = (place(&residents, "key"), Arc::as_ptr(&users) as usize);
    residents.let_go(own);
    assert_eq!((residents.keeps(own), residents.place_of(address)), (false, Some(own)));
    let again = residents.get::<u64, ()>("key", || panic!("somebody has it")).unwrap();
    assert!(Arc::ptr_eq(&users, &again) && residents.keeps(own));
    drop(users);
    assert!(residents.is_held(own));
    let users = again;
    residents.let_go(own);
    assert!(!residents.is_held(own));
    drop(users);
    assert_eq!(residents.place_of(address), None, "nobody has it, and its address may be another thing's");
}

#[test]
fn a_place_is_a_names_before_it_is_loaded_and_after_it_failed() {
    let residents = Residents::new();
    let (key, other) = (place(&residents, "key"), place(&residents, "other"));
    assert!(key != other && !residents.keeps(key));
    assert_eq!(residents.get("key", || Err::<u64, _>("cut off")), Err("cut off"));
    let loaded = residents.get("key", || Ok::<_, ()>(7_u64)).unwrap();
    assert_eq!(residents.place_of(Arc::as_ptr(&loaded) as usize), Some(key));
    assert_eq!(place(&residents, "key"), key);
}

#[test]
fn a_load_that_panics_leaves_nothing_and_the_next_tries_again() {
    let residents = Residents::new();
    let load = || residents.get::<u64, ()>("key", || panic!("as told"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(load)).is_err());
    assert!(residents.names().is_empty());
    assert_eq!(*residents.get("key", || Ok::<_, ()>(7_u64)).unwrap(), 7);
}

#[test]
fn who_comes_while_it_is_loaded_waits_for_it() {
    let residents = Residents::new();
    let (begun, may_end) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let loads = scope.spawn(|| {
            residents.get("key", || {
                begun.wait();
                may_end.wait();
                Ok::<_, ()>(7_u64)
            })
        });
        begun.wait();
        assert_eq!(*residents.get("other", || Ok::<_, ()>(1_u64)).unwrap(), 1, "other names do not wait");
        assert!(!residents.keeps(place(&residents, "key")) && residents.names() == ["other"]);
        let waits = scope.spawn(|| residents.get::<u64, ()>("key", || panic!("somebody loads it")));
        may_end.wait();
        assert!(Arc::ptr_eq(&loads.join().unwrap().unwrap(), &waits.join().unwrap().unwrap()));
    });
}
