//! One mapping.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arena::{NOT_ASKED, NOT_RESERVED, RESERVED, Shared};
use crate::{LARGE_PAGE, SMALL_PAGE, WORTHWHILE};

/// Bytes that one task touches.
const TOUCHED_PER_TASK: usize = 8 << 20;

/// The pages of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageSize {
    /// 2 MiB, reserved by the machine's owner (`vm.nr_hugepages`).
    Reserved,
    /// 2 MiB where the kernel finds some.
    Transparent,
    /// The kernel's smallest.
    Small,
}

/// A range of memory, mapped for itself; unmapped when it is dropped.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
    pages: PageSize,
    registered: bool,
    arena: Arc<Shared>,
}

// SAFETY: it owns its range, as a boxed slice does; what is done through the pointer is its user's to prove.
unsafe impl Send for Block {}
// SAFETY: shared access gives the address only.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) fn map(arena: &Arc<Shared>, threads: Option<&ThreadPool>, bytes: usize) -> Self {
        let large = arena.settings.large_pages && bytes >= WORTHWHILE;
        let unit = if large { LARGE_PAGE } else { SMALL_PAGE };
        let bytes = bytes.max(1).next_multiple_of(unit);
        let (start, pages) = if large { map_large(arena, bytes) } else { (map(arena, bytes, unit), PageSize::Small) };
        arena.mapped(bytes);
        let mut block = Self { start, bytes, pages, registered: false, arena: Arc::clone(arena) };
        if arena.settings.secret {
            block.advise(DO_NOT_DUMP);
        }
        if arena.settings.touched {
            match threads {
                Some(threads) => threads.install(|| block.touch()),
                None => block.touch(),
            }
        }
        if let Some(registrar) = &arena.settings.registrar {
            block.registered = registrar.register(block.as_ptr(), bytes).is_ok();
        }
        block
    }

    /// Its first byte.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length, a multiple of a page; at least what was asked for.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it lies on.
    #[must_use]
    pub fn pages(&self) -> PageSize {
        self.pages
    }

    /// Makes the kernel give every page now, for writing. In parallel where the caller is in a rayon pool, so that the
    /// pages come to the memory of the processors that will use them.
    fn touch(&self) {
        let pieces = self.bytes.div_ceil(TOUCHED_PER_TASK);
        let touch = |piece: usize| {
            let at = piece * TOUCHED_PER_TASK;
            self.touch_piece(at, TOUCHED_PER_TASK.min(self.bytes - at));
        };
        if rayon::current_thread_index().is_some() {
            (0..pieces).into_par_iter().for_each(touch);
        } else {
            (0..pieces).for_each(touch);
        }
    }

    fn touch_piece(&self, at: usize, bytes: usize) {
        self.arena.advices.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the piece lies in the block.
        let start = unsafe { self.start.as_ptr().add(at) };
        if populate(start, bytes) {
            return;
        }
        // A kernel before 5.14.
        for page in (0..bytes).step_by(SMALL_PAGE) {
            // SAFETY: inside the piece, which nobody else has yet and which is zero as it came.
            unsafe { start.add(page).write_volatile(0) };
        }
    }

    fn advise(&self, advice: i32) {
        self.arena.advices.fetch_add(1, Ordering::Relaxed);
        advise(self.start.as_ptr(), self.bytes, advice);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(registrar) = self.arena.settings.registrar.as_ref().filter(|_| self.registered) {
            registrar.unregister(self.as_ptr(), self.bytes);
        }
        self.arena.unmaps.fetch_add(1, Ordering::Relaxed);
        self.arena.unmapped(self.bytes);
        // SAFETY: the range is the block's own, and nobody has it any more.
        unsafe { unmap(self.start.as_ptr(), self.bytes) };
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes, {:?})", self.bytes, self.pages)
    }
}

/// On reserved pages if there are some, else on transparent ones, else on small ones.
fn map_large(arena: &Arc<Shared>, bytes: usize) -> (NonNull<u8>, PageSize) {
    let reserved = arena.reserved.load(Ordering::Relaxed);
    if reserved != NOT_RESERVED {
        arena.maps.fetch_add(1, Ordering::Relaxed);
        if let Some(start) = map_reserved(bytes) {
            arena.reserved.store(RESERVED, Ordering::Relaxed);
            return (start, PageSize::Reserved);
        }
        if reserved == NOT_ASKED {
            arena.reserved.store(NOT_RESERVED, Ordering::Relaxed);
        }
    }
    let start = map(arena, bytes, LARGE_PAGE);
    match arena.pages() {
        PageSize::Small => {
            arena.warn("no 2 MiB pages are reserved and transparent ones are switched off");
            (start, PageSize::Small)
        }
        pages => {
            arena.advices.fetch_add(1, Ordering::Relaxed);
            advise(start.as_ptr(), bytes, WANTS_LARGE_PAGES);
            (start, pages)
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use super::{Arc, LARGE_PAGE, NonNull, Ordering, Shared};

    pub(super) const DO_NOT_DUMP: i32 = libc::MADV_DONTDUMP;
    pub(super) const WANTS_LARGE_PAGES: i32 = libc::MADV_HUGEPAGE;
    /// Of Linux 5.14; `libc` knows it by this number.
    const POPULATE_WRITE: i32 = 23;

    fn anonymous(bytes: usize, flags: i32) -> Option<NonNull<u8>> {
        let (read_write, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags);
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that is there.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, read_write, flags, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    /// A mapping that starts at a multiple of `align`, which is a power of two and at least a page.
    pub(super) fn map(arena: &Arc<Shared>, bytes: usize, align: usize) -> NonNull<u8> {
        arena.maps.fetch_add(1, Ordering::Relaxed);
        // Neither end of a mapping is aligned to more than a page: what is too much at both is given back at once.
        let spare = if align > super::SMALL_PAGE { align } else { 0 };
        let Some(start) = anonymous(bytes + spare, 0) else {
            panic!("the kernel gives no memory for {bytes} bytes: {}", std::io::Error::last_os_error())
        };
        let before = start.as_ptr().align_offset(align);
        for (at, length) in [(0, before), (before + bytes, spare - before.min(spare))] {
            if length > 0 {
                arena.unmaps.fetch_add(1, Ordering::Relaxed);
                // SAFETY: both ends lie in the mapping that was just made, outside of what is handed out.
                unsafe { unmap(start.as_ptr().add(at), length) };
            }
        }
        // SAFETY: `before` is at most `spare`, so this is inside the mapping.
        unsafe { start.add(before) }
    }

    /// On pages that the machine's owner reserved; nothing if there are not enough.
    pub(super) fn map_reserved(bytes: usize) -> Option<NonNull<u8>> {
        debug_assert_eq!(bytes % LARGE_PAGE, 0);
        anonymous(bytes, libc::MAP_HUGETLB | libc::MAP_HUGE_2MB)
    }

    /// # Safety
    /// The range must be mapped, and nobody may use it any more.
    pub(super) unsafe fn unmap(start: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        let done = unsafe { libc::munmap(start.cast(), bytes) };
        debug_assert_eq!(done, 0, "a mapping of our own can be unmapped");
    }

    /// Advice changes no contents, and its failure (an old kernel, large pages switched off) no behaviour.
    pub(super) fn advise(start: *mut u8, bytes: usize, advice: i32) {
        // SAFETY: all advice given here leaves the contents as they are.
        unsafe { libc::madvise(start.cast(), bytes, advice) };
    }

    /// Whether the kernel could do it.
    pub(super) fn populate(start: *mut u8, bytes: usize) -> bool {
        // SAFETY: it faults the pages in, and leaves the contents as they are.
        unsafe { libc::madvise(start.cast(), bytes, POPULATE_WRITE) == 0 }
    }
}

/// Miri maps nothing: the heap stands in, so that it sees who uses what after its end.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

    use super::{Arc, LARGE_PAGE, NonNull, Ordering, Shared};

    pub(super) const DO_NOT_DUMP: i32 = 0;
    pub(super) const WANTS_LARGE_PAGES: i32 = 0;

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, LARGE_PAGE).expect("a block below half the address space")
    }

    pub(super) fn map(arena: &Arc<Shared>, bytes: usize, _: usize) -> NonNull<u8> {
        arena.maps.fetch_add(1, Ordering::Relaxed);
        // SAFETY: blocks are not empty.
        let start = unsafe { alloc_zeroed(layout(bytes)) };
        NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout(bytes)))
    }

    pub(super) fn map_reserved(_: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// The range must be what [`map`] gave, and nobody may use it any more.
    pub(super) unsafe fn unmap(start: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { dealloc(start, layout(bytes)) };
    }

    pub(super) fn advise(_: *mut u8, _: usize, _: i32) {}

    pub(super) fn populate(_: *mut u8, _: usize) -> bool {
        true
    }
}

use system::{DO_NOT_DUMP, WANTS_LARGE_PAGES, advise, map, map_reserved, populate, unmap};

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

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
        }
    }
}
