use std::sync::Mutex;

use super::touch::{TOUCHED_PER_TASK, write_each_page};
use super::*;
use crate::arena::{Arena, Registrar, Settings};

#[test]
fn a_block_is_zero_aligned_and_as_large_as_asked() {
    let arena = Arena::default();
    for bytes in [1, SMALL_PAGE, SMALL_PAGE + 1, WORTHWHILE, LARGE_PAGE + 1, 3 * TOUCHED_PER_TASK + 5] {
        let block = arena.map(bytes);
        assert!(block.bytes() >= bytes && block.bytes() % SMALL_PAGE == 0, "{block:?}");
        let unit = if bytes >= WORTHWHILE { LARGE_PAGE } else { SMALL_PAGE };
        assert_eq!(block.as_ptr() as usize % unit, 0, "{block:?}");
        // SAFETY: the block is mapped, zero, and this test's alone.
        let contents = unsafe { std::slice::from_raw_parts(block.as_ptr(), block.bytes()) };
        assert!(contents.iter().all(|byte| *byte == 0));
    }
    let counts = arena.counts();
    assert_eq!(counts.bytes, 0, "all were unmapped");
    assert!(counts.maps >= 6 && counts.unmaps >= 6 && counts.peak_bytes >= 24 << 20, "{counts:?}");
}

#[test]
fn without_large_pages_there_is_one_warning_that_says_what_to_do() {
    let folder = std::env::temp_dir().join(format!("proofline-memory-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("transparent_hugepage")).unwrap();
    std::fs::write(folder.join("transparent_hugepage/enabled"), "always madvise [never]\n").unwrap();
    let arena = Arena::new(Settings { kernel: folder.clone(), ..Settings::default() });
    assert_eq!(arena.warning(), None);
    let small = arena.map(SMALL_PAGE);
    assert_eq!((small.pages(), arena.warning()), (PageSize::Small, None), "nobody misses large pages there");
    let large = arena.map(LARGE_PAGE);
    // A machine that has pages reserved gives those.
    if large.pages() == PageSize::Small {
        let warning = arena.warning().unwrap();
        assert!(warning.contains("vm.nr_hugepages") && warning.contains("switched off"), "{warning}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_kernel_that_cannot_populate_has_each_page_written() {
    let arena = Arena::of_plain_data();
    let block = arena.map(5 * SMALL_PAGE);
    // SAFETY: the block is this test's alone.
    unsafe {
        block.as_ptr().add(1).write(7);
        write_each_page(block.as_ptr(), block.bytes());
        assert_eq!((block.as_ptr().read(), block.as_ptr().add(1).read()), (0, 7), "one byte of each page");
    }
}

#[cfg(not(miri))]
#[test]
fn what_is_given_back_is_zero_when_it_comes_again() {
    for (give_back, keeps_addresses) in [(GiveBack::Unmap, false), (GiveBack::DontNeed, true), (GiveBack::Free, true)] {
        for bytes in [3 * SMALL_PAGE, LARGE_PAGE] {
            let arena = Arena::new(Settings { give_back, ..Settings::default() });
            let block = arena.map(bytes);
            // SAFETY: the block is this test's alone.
            unsafe { block.as_ptr().write_bytes(0xaa, bytes) };
            let (start, pages) = (block.as_ptr() as usize, block.pages());
            drop(block);
            let between = arena.counts();
            assert_eq!(between.bytes, 0);
            // Another size gets other addresses.
            let other = arena.map(bytes + LARGE_PAGE);
            let again = arena.map(bytes);
            // SAFETY: as above.
            let contents = unsafe { std::slice::from_raw_parts(again.as_ptr(), bytes) };
            assert!(contents.iter().all(|byte| *byte == 0), "{give_back:?}, {bytes} bytes");
            // Reserved pages cannot be freed late.
            if keeps_addresses && pages != PageSize::Reserved {
                assert_eq!((again.as_ptr() as usize, again.pages()), (start, pages), "{give_back:?}");
                let counts = arena.counts();
                assert!(counts.unmaps <= between.unmaps + 2, "only the ends of `other`: {counts:?}");
            }
            drop((other, again));
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn pages_that_are_not_needed_go_at_once() {
    let resident = |start: usize, bytes: usize| {
        let mut pages = vec![0_u8; bytes / SMALL_PAGE];
        // SAFETY: it writes one byte for each page of the range, which is mapped.
        let done = unsafe { libc::mincore(start as *mut _, bytes, pages.as_mut_ptr()) };
        (done == 0).then(|| pages.iter().filter(|page| **page & 1 == 1).count())
    };
    let arena = Arena::new(Settings { give_back: GiveBack::DontNeed, large_pages: false, ..Settings::default() });
    let block = arena.map(64 * SMALL_PAGE);
    let start = block.as_ptr() as usize;
    assert_eq!(resident(start, block.bytes()), Some(64));
    drop(block);
    assert_eq!(resident(start, 64 * SMALL_PAGE), Some(0), "the addresses are still there");
}

/// A process that asks for ever other sizes keeps no mapping for each.
#[cfg(not(miri))]
#[test]
fn an_arena_keeps_no_more_than_so_many_ranges() {
    let settings =
        Settings { give_back: GiveBack::DontNeed, large_pages: false, touched: false, ..Settings::default() };
    let arena = Arena::new(settings);
    (1..=MOST_RANGES + 5).for_each(|pages| drop(arena.map(pages * SMALL_PAGE)));
    assert_eq!((arena.shared().ranges.lock().unwrap().len(), arena.counts().unmaps), (MOST_RANGES, 5));
    let (maps, first) = (arena.counts().maps, arena.map(7 * SMALL_PAGE));
    assert_eq!((arena.counts().maps, arena.shared().ranges.lock().unwrap().len()), (maps, MOST_RANGES - 1));
    drop((arena, first));
}

/// The kernel takes what is freed when it likes. Until then it is not to be found there.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn what_is_given_back_late_is_wiped_at_once() {
    let arena = Arena::new(Settings { give_back: GiveBack::Free, large_pages: false, ..Settings::default() });
    let block = arena.map(5 * SMALL_PAGE);
    let start = block.as_ptr();
    // SAFETY: the block is this test's alone.
    unsafe { start.write_bytes(0xaa, 5 * SMALL_PAGE) };
    drop(block);
    assert_eq!(arena.shared().ranges.lock().unwrap().len(), 1);
    // SAFETY: the arena still has the range, mapped, and nobody writes to it.
    let left = unsafe { std::slice::from_raw_parts(start, 5 * SMALL_PAGE) };
    assert!(left.iter().all(|byte| *byte == 0));
}

/// A page that was reserved and given back is anybody's: its address may find none.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn reserved_pages_are_unmapped_however_memory_goes_back() {
    for give_back in [GiveBack::Unmap, GiveBack::DontNeed, GiveBack::Free] {
        let arena = Arena::new(Settings { give_back, ..Settings::default() });
        let block = arena.map(LARGE_PAGE);
        let (is_reserved, before) = (block.pages() == PageSize::Reserved, arena.counts().unmaps);
        drop(block);
        let kept = arena.shared().ranges.lock().unwrap().len();
        let unmapped = arena.counts().unmaps - before;
        let keeps = give_back != GiveBack::Unmap && !is_reserved;
        assert_eq!((kept, unmapped), (usize::from(keeps), u64::from(!keeps)), "{give_back:?}");
    }
}

/// A page behind the end of a file stands for one that the kernel will not give: to touch either is a signal.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn pages_that_are_refused_are_found_out_without_touching_them() {
    // SAFETY: the name ends in zero, and the mapping is at an address of the kernel's choice; it is not touched.
    let (file, start) = unsafe {
        let file = libc::memfd_create(c"empty".as_ptr(), 0);
        let (protection, bytes) = (libc::PROT_READ | libc::PROT_WRITE, 4 * SMALL_PAGE);
        (file, libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file, 0))
    };
    assert!(file >= 0 && start != libc::MAP_FAILED);
    let arena = Arena::default();
    let range = (NonNull::new(start.cast()).unwrap(), 4 * SMALL_PAGE);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    match populate(start.cast(), 4 * SMALL_PAGE) {
        // A kernel before 5.14.
        Populated::Unknown => {}
        answer => {
            assert_eq!(answer, Populated::Refused);
            assert_eq!(touch::reserved(arena.shared(), None, range), Err(touch::Refused));
            assert_eq!(touch::reserved(arena.shared(), Some(&pool), range), Err(touch::Refused));
        }
    }
    // SAFETY: both are this test's own.
    unsafe {
        libc::munmap(start, 4 * SMALL_PAGE);
        libc::close(file);
    }
}

#[derive(Default)]
struct Device(Mutex<Vec<(bool, usize, usize)>>);

impl Registrar for Device {
    fn register(&self, start: *mut u8, bytes: usize) -> Result<(), String> {
        self.0.lock().unwrap().push((true, start as usize, bytes));
        if bytes > LARGE_PAGE { Err("too large".into()) } else { Ok(()) }
    }

    fn unregister(&self, start: *mut u8, bytes: usize) {
        self.0.lock().unwrap().push((false, start as usize, bytes));
    }
}

#[test]
fn a_device_is_told_of_each_block_once() {
    let device = Arc::new(Device::default());
    let arena = Arena::new(Settings { registrar: Some(device.clone()), ..Settings::default() });
    let block = arena.map(LARGE_PAGE);
    let (start, bytes) = (block.as_ptr() as usize, block.bytes());
    drop(block);
    assert_eq!(*device.0.lock().unwrap(), [(true, start, bytes), (false, start, bytes)]);
    drop(arena.map(2 * LARGE_PAGE));
    assert_eq!(device.0.lock().unwrap().len(), 3, "what it refused is not taken back");
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn secrets_are_left_out_of_core_dumps() {
    let flags = |block: &Block| {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (at, mut inside) = (block.as_ptr() as usize, false);
        for line in maps.lines() {
            if let Some((start, end)) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')) {
                let address = |text| usize::from_str_radix(text, 16).ok();
                if let (Some(start), Some(end)) = (address(start), address(end)) {
                    inside = (start..end).contains(&at);
                }
            }
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            }
        }
        panic!("the block is in no mapping");
    };
    let has = |block: &Block| flags(block).contains(&"dd".to_owned());
    for bytes in [SMALL_PAGE, LARGE_PAGE] {
        assert!(has(&Arena::default().map(bytes)), "{bytes} bytes");
        assert!(!has(&Arena::of_plain_data().map(bytes)), "{bytes} bytes");
        for give_back in [GiveBack::DontNeed, GiveBack::Free] {
            let arena = Arena::new(Settings { give_back, ..Settings::default() });
            drop(arena.map(bytes));
            assert!(has(&arena.map(bytes)), "{bytes} bytes after {give_back:?}");
        }
    }
}
