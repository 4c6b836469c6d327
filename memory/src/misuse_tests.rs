//! What goes wrong around memory: panics, odd sizes and alignments, owners that go in any order, many threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rayon::prelude::*;

use crate::{Arena, HEAP_BELOW, LARGE_PAGE, List, Pages, WORTHWHILE, taken};

/// A value that asks for more alignment than a cache line, and one without any size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(128))]
struct Wide(u8);

#[test]
fn arrays_start_on_a_line_or_where_their_values_want() {
    for len in [1, 2, 3, HEAP_BELOW - 1, HEAP_BELOW, HEAP_BELOW + 1, WORTHWHILE, WORTHWHILE + 1] {
        let plain = Pages::filled(len, 7_u8);
        assert_eq!(plain.as_ptr() as usize % 64, 0, "{len} bytes");
        assert!((len..=taken(len)).contains(&plain.bytes()), "{len} bytes take {}", plain.bytes());
        let bytes = Pages::filled_in(&Arena::default(), len, 7_u8);
        assert_eq!(bytes.as_ptr() as usize % 64, 0, "{len} bytes");
        assert!(bytes.bytes() >= len && bytes.bytes() == taken(len), "{len} bytes take {}", bytes.bytes());
        let wide = Pages::filled(len.div_ceil(100), Wide(3));
        assert_eq!(wide.as_ptr() as usize % 128, 0, "{len} bytes");
        assert!(wide.iter().all(|value| *value == Wide(3)));
    }
}

/// The heap is in core dumps, and keeps what is freed.
#[test]
fn secrets_lie_on_no_heap_however_few_they_are() {
    let (secret, plain) = (Arena::default(), Arena::of_plain_data());
    let mut list = List::<u8>::new(&secret);
    list.push(7);
    let few = Pages::filled_in(&secret, 3, 7_u8);
    assert_eq!(secret.counts().bytes, 2 * taken(1) as u64);
    drop((list, few));
    assert_eq!(secret.counts().bytes, 0);
    assert_eq!((Pages::filled_in(&plain, 3, 7_u8).bytes(), plain.counts().maps), (3, 0));
}

#[test]
fn nothing_and_what_has_no_size_take_nothing() {
    let arena = Arena::default();
    let mut list = List::<[u64; 0]>::new(&arena);
    list.extend(std::iter::repeat_n([], 1000));
    list.resize(100_000, []);
    list.set_len(200_000, []);
    assert_eq!((list.len(), list.bytes(), Pages::<u64>::from_fn(0, |_| 1).bytes()), (200_000, 0, 0));
    let none = Pages::<u64>::try_from_bytes((0, 1, 8), 0, |_, _| Err("read"), |_, _, _| Err("converted"));
    assert_eq!(none.map(|pages| pages.len()), Ok(0));
    assert_eq!(arena.counts().maps, 0);
}

/// Whatever is dropped first, all of it goes back, and what is left can be used.
#[test]
fn owners_go_in_any_order() {
    let arena = Arena::default();
    let block = arena.map(LARGE_PAGE);
    let mut list = List::<u32>::new(&arena);
    list.resize(LARGE_PAGE, 5);
    let (again, pages) = (arena.clone(), Pages::filled_in(&arena, LARGE_PAGE, 9_u8));
    assert!(again.counts().bytes >= 6 * LARGE_PAGE as u64);
    drop(arena);
    drop(block);
    assert!(list.iter().all(|value| *value == 5) && pages.iter().all(|value| *value == 9));
    list.push(6);
    drop(list);
    drop(pages);
    assert_eq!(again.counts().bytes, 0);
}

/// What is filled when its filling panics goes back, and nothing of it is seen.
#[test]
fn panics_give_memory_back() {
    let arena = Arena::default();
    let mut list = List::<u64>::new(&arena);
    list.resize(100_000, 1);
    let held = arena.counts().bytes;
    let broken = catch_unwind(AssertUnwindSafe(|| {
        list.clear();
        list.extend((0..200_000).map(|i| if i == 150_000 { panic!("in the middle") } else { i }));
    }));
    assert!(broken.is_err());
    assert!(list.len() == 150_000 && list.iter().copied().eq(0..150_000), "what was written before");
    list.clear();
    list.set_len(250_000, 3);
    assert!(list[200_000..].iter().all(|value| *value == 3));
    drop(list);
    assert!(held > 0 && arena.counts().bytes == 0);
    let fills = |i: usize| if i == 77_777 { panic!("in the middle") } else { i as u64 };
    assert!(catch_unwind(|| Pages::from_fn(100_000, fills)).is_err());
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let arena = Arena::default().touched_by(&pool);
    assert!(catch_unwind(AssertUnwindSafe(|| arena.map(usize::MAX))).is_err());
    assert_eq!(arena.counts().bytes, 0);
    assert!(arena.map(3 * LARGE_PAGE).bytes() >= 3 * LARGE_PAGE);
}

#[test]
#[should_panic(expected = "above half the address space")]
fn a_block_that_is_too_large_is_refused_and_none_is_made() {
    let _ = Arena::default().map(usize::MAX - 5);
}

#[test]
fn many_threads_map_and_count() {
    let arena = Arena::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    let rounds = if cfg!(miri) { 4 } else { 200_usize };
    pool.install(|| {
        (0..rounds).into_par_iter().for_each(|round| {
            let mut list = List::<u32>::new(&arena);
            let len = HEAP_BELOW / 4 + round * 977 % WORTHWHILE;
            list.resize(len, round as u32);
            let copy = Pages::filled_in(&arena, len, round as u32);
            assert!(list.iter().chain(copy.iter()).all(|value| *value == round as u32));
        });
    });
    let counts = arena.counts();
    assert!(counts.bytes == 0 && counts.peak_bytes > 0 && counts.maps >= 2 * rounds as u64, "{counts:?}");
}
