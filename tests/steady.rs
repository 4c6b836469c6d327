//! A proof in the steady state takes no memory from anybody: nothing large from the heap, nothing from the kernel.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proofline::setup::{Entropy, generate};
use proofline::{CircuitShape, Job, Options, Prover, ProvingKey, Slots, unwatched};

/// Pieces of the heap from this size on count.
const LARGE: usize = 64 << 10;

static LARGE_PIECES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, which counts large pieces.
struct Counting;

fn count(bytes: usize) {
    if bytes >= LARGE {
        LARGE_PIECES.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: everything is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(start, layout, bytes) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(start, layout) };
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

#[test]
fn a_proof_in_the_steady_state_allocates_nothing_large_and_maps_nothing() {
    let shape = Arc::new(CircuitShape::from_builtin("sha256:1").unwrap());
    let key = Arc::new(ProvingKey::new(generate(&shape, &Entropy::Seed("steady"), &unwatched).unwrap()));
    let prover = Prover::with(Options { slots: Slots::AllFirst, ..Options::default() }).unwrap();
    let prove = |proofs: usize| {
        let job = || {
            let witness = shape.builtin().unwrap().fresh_witness();
            prover.submit(Job::new(Arc::clone(&shape), Arc::clone(&key), vec![witness]).unwrap()).unwrap()
        };
        let handles: Vec<_> = (0..proofs).map(|_| job()).collect();
        handles.into_iter().for_each(|handle| assert_eq!(handle.wait().unwrap().len(), 1));
        prover.drain();
    };
    let before_any = LARGE_PIECES.load(Ordering::Relaxed);
    assert!(before_any > 0, "keys are large: the allocator counts");
    prove(4);
    let warm = (LARGE_PIECES.load(Ordering::Relaxed), prover.memory());
    assert!(warm.1.maps > 0, "the first proofs map the memory of all: {:?}", warm.1);
    prove(12);
    assert_eq!((LARGE_PIECES.load(Ordering::Relaxed), prover.memory()), warm);
}
