//! Who maps memory, and what it asked of the kernel.

use std::alloc::Layout;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rayon::ThreadPool;

use crate::block::{Block, PageSize, Range};
use crate::lender::Room;
use crate::raw::LINE;

/// Makes memory known to a device, so that it can read and write it without a copy. Called once for each block, when it is
/// mapped and before it is unmapped.
pub trait Registrar: Send + Sync {
    /// Registers a range.
    ///
    /// # Errors
    /// The device refuses; the memory is used all the same, with copies.
    fn register(&self, start: *mut u8, bytes: usize) -> Result<(), String>;

    /// Takes back what [`Self::register`] accepted.
    fn unregister(&self, start: *mut u8, bytes: usize);
}

/// How a block's memory is given back to the kernel when it is dropped. Reserved pages are unmapped in any case: the kernel
/// keeps none for an address that has given its page back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GiveBack {
    /// With its addresses: `munmap`. The next block faults and maps anew.
    #[default]
    Unmap,
    /// The pages at once, the addresses stay for the next block of the same size: `MADV_DONTNEED`.
    DontNeed,
    /// The pages when the kernel wants them, the addresses stay: `MADV_FREE`. They are overwritten with zeros before.
    /// Resident memory looks as if nothing was given back until then.
    Free,
}

/// How an arena maps.
#[derive(Clone)]
pub struct Settings {
    /// Whether large pages are asked for.
    pub large_pages: bool,
    /// Whether blocks are touched when they are mapped, so that their first use faults no more.
    pub touched: bool,
    /// Whether blocks are left out of core dumps: they hold secrets.
    pub secret: bool,
    /// Who makes blocks known to a device.
    pub registrar: Option<Arc<dyn Registrar>>,
    /// What becomes of a block that is dropped.
    pub give_back: GiveBack,
    /// Where the kernel says what pages it has; `/sys/kernel/mm` but in tests.
    pub kernel: PathBuf,
}

impl Default for Settings {
    /// Large pages, touched, secret, no device.
    fn default() -> Self {
        Self {
            large_pages: true,
            touched: true,
            secret: true,
            registrar: None,
            give_back: GiveBack::Unmap,
            kernel: PathBuf::from("/sys/kernel/mm"),
        }
    }
}

/// Maps blocks of memory and counts them; a handle that is cloned is the same arena.
#[derive(Clone)]
pub struct Arena {
    shared: Arc<Shared>,
    /// Who touches new blocks; else the threads of the rayon pool that [`map`](Self::map) is called in.
    threads: Option<Arc<ThreadPool>>,
    /// What is handed out before anything is mapped.
    room: Option<Arc<Room>>,
}

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) maps: AtomicU64,
    pub(crate) unmaps: AtomicU64,
    pub(crate) advices: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) peak: AtomicU64,
    /// Whether pages are reserved for hugetlb: not asked, yes, no.
    pub(crate) reserved: AtomicU8,
    transparent: OnceLock<bool>,
    warning: OnceLock<String>,
    /// Ranges whose pages were given back.
    pub(crate) ranges: Mutex<Vec<Range>>,
}

/// What an arena has asked of the kernel so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Calls of `mmap`.
    pub maps: u64,
    /// Calls of `munmap`.
    pub unmaps: u64,
    /// Calls of `madvise`.
    pub advices: u64,
    /// Bytes of the blocks that there are.
    pub bytes: u64,
    /// The most bytes of blocks that there were at once.
    pub peak_bytes: u64,
}

impl Arena {
    /// An arena that has mapped nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let [maps, unmaps, advices, bytes, peak] = [(); 5].map(|()| AtomicU64::new(0));
        let reserved = AtomicU8::new(NOT_ASKED);
        let (transparent, warning) = (OnceLock::new(), OnceLock::new());
        let ranges = Mutex::default();
        let shared =
            Arc::new(Shared { settings, maps, unmaps, advices, bytes, peak, reserved, transparent, warning, ranges });
        Self { shared, threads: None, room: None }
    }

    /// One for data that is no secret and is written at once by whoever maps it: keys and tables.
    #[must_use]
    pub fn of_plain_data() -> Self {
        Self::new(Settings { touched: false, secret: false, ..Settings::default() })
    }

    /// The same arena, whose new blocks are touched by these threads.
    #[must_use]
    pub fn touched_by(&self, threads: &Arc<ThreadPool>) -> Self {
        Self { threads: Some(Arc::clone(threads)), ..self.clone() }
    }

    /// The same arena, which hands out this memory first.
    pub(crate) fn with_room(&self, room: &Arc<Room>) -> Self {
        Self { room: Some(Arc::clone(room)), ..self.clone() }
    }

    /// Memory that was lent, if there is some for this.
    pub(crate) fn lent(&self, layout: Layout) -> Option<(NonNull<u8>, Arc<Room>)> {
        let room = self.room.as_ref().filter(|_| layout.align() <= LINE)?;
        Some((room.take(layout.size())?, Arc::clone(room)))
    }

    /// Maps a block of at least so many bytes, all zero. The threads of the rayon pool that this is called in touch it
    /// together; outside of one, the caller does.
    ///
    /// # Panics
    /// The kernel gives no memory, or it would be more than half the address space.
    #[must_use]
    pub fn map(&self, bytes: usize) -> Block {
        Block::map(&self.shared, self.threads.as_deref(), bytes)
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Whether its blocks hold secrets.
    pub(crate) fn keeps_secrets(&self) -> bool {
        self.shared.settings.secret
    }

    /// What was asked of the kernel so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Shared { maps, unmaps, advices, bytes, peak, .. } = &*self.shared;
        Counts { maps: of(maps), unmaps: of(unmaps), advices: of(advices), bytes: of(bytes), peak_bytes: of(peak) }
    }

    /// Why large blocks lie on small pages, once one does.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.shared.warning.get().map(String::as_str)
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Arena").field(&self.counts()).finish()
    }
}

pub(crate) const NOT_ASKED: u8 = 0;
pub(crate) const RESERVED: u8 = 1;
pub(crate) const NOT_RESERVED: u8 = 2;

impl Shared {
    /// The pages that a large block is to lie on where none are reserved.
    pub(crate) fn pages(&self) -> PageSize {
        let enabled = || {
            let text = std::fs::read_to_string(self.settings.kernel.join("transparent_hugepage/enabled"));
            text.is_ok_and(|text| !text.contains("[never]"))
        };
        if *self.transparent.get_or_init(enabled) { PageSize::Transparent } else { PageSize::Small }
    }

    /// A large block lies on small pages: said once.
    pub(crate) fn warn(&self, why: &str) {
        self.warning.get_or_init(|| {
            format!(
                "memory lies on pages of 4 KiB, which costs speed: {why}; reserve pages (vm.nr_hugepages) or write \
                 `madvise` to {}",
                self.settings.kernel.join("transparent_hugepage/enabled").display()
            )
        });
    }

    pub(crate) fn mapped(&self, bytes: usize) {
        let now = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    pub(crate) fn unmapped(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}
