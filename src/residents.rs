//! Keys and circuits that stay in memory between jobs.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pipeline_runtime::admission::Keeper;
use pipeline_runtime::stage::{Brought, Thing};

/// Things that are loaded once and shared by the jobs that need them: proving keys and circuits, under names of the
/// caller's choice.
///
/// Give it to [`Options::keeper`](crate::Options): then what is here counts in the memory that there is for jobs. From when on is
/// the caller's choice: with a [reservation](crate::Prover::reserve) for what it [needs](Self::need) before it is loaded, else with
/// the first job that uses it.
///
/// ```no_run
/// # use proofline::{CircuitShape, Job, Options, Prover, ProvingKey, Residents, bytes_of_circuit, bytes_of_key, unwatched};
/// # fn example(key_file: &std::path::Path, circuit_file: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
/// let residents = Residents::new();
/// let prover = Prover::with(Options { keeper: Some(residents.clone()), ..Options::default() })?;
/// // Waits for room, or says at once that there can never be enough.
/// let reserved = prover.reserve(&[
///     residents.need("key of c", "proving key", bytes_of_key(key_file)?),
///     residents.need("circuit c", "matrices", bytes_of_circuit(circuit_file)?),
/// ])?;
/// // Either is read by the first who asks; whoever fails gives the reservation back.
/// let shape = residents.get("circuit c", || CircuitShape::read(circuit_file))?;
/// let key = residents.get("key of c", || ProvingKey::read(key_file, &unwatched))?;
/// # let witnesses = vec![];
/// let handle = prover.submit_in(reserved, Job::new(shape, key, witnesses)?)?;
/// # Ok(())
/// # }
/// ```
///
/// While memory is to be had a thing stays, whether or not a job uses it; when a job needs more than is left, what has been idle
/// for the longest time is dropped here, behind the permits of `dealloc`, and [`get`](Self::get) loads it anew when it is asked
/// for again. What a job uses, or waits to use with a reservation, never goes; what anybody else has goes last, for that frees
/// nothing: a caller who keeps a clone of what `get` gave keeps the memory, counted or not, and who asks again meanwhile gets
/// that one. While one thing is being loaded reservations of others wait. Jobs of what is resident need none, and go on.
///
/// A name that was asked for once is remembered for good, and its thing has always one type.
#[derive(Default)]
pub struct Residents {
    list: Mutex<Vec<Resident>>,
}

/// A name; its position in the list is its place.
struct Resident {
    name: String,
    /// Held by who loads it.
    loading: Arc<Mutex<()>>,
    /// The thing, while it is resident.
    kept: Option<Arc<Loaded>>,
    /// The thing, while anybody has it.
    last: Option<Weak<Loaded>>,
}

/// Something that was loaded.
type Loaded = dyn Any + Send + Sync;

impl Residents {
    /// None yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Resident>> {
        // Entries are pushed whole, and changed in one step.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(list: &mut Vec<Resident>, name: &str) -> usize {
        list.iter().position(|resident| resident.name == name).unwrap_or_else(|| {
            list.push(Resident { name: name.to_owned(), loading: Arc::default(), kept: None, last: None });
            list.len() - 1
        })
    }

    /// What to [reserve](crate::Prover::reserve) before the thing of this name is loaded: at most so many bytes. `what` is what
    /// tables call it.
    #[must_use]
    pub fn need(&self, name: &str, what: &str, bytes: u64) -> Brought {
        let place = Self::place(&mut self.lock(), name);
        Brought { thing: Thing::Kept(place as u64), what: what.to_owned(), bytes }
    }

    /// The thing of this name; `load` makes it if it is not there. Who asks for it while it is being loaded waits for it;
    /// other names do not.
    ///
    /// # Errors
    /// Those of `load`; the next caller tries again.
    ///
    /// # Panics
    /// If the name stands for a thing of another type.
    pub fn get<T: Send + Sync + 'static, E>(
        &self,
        name: &str,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let (place, loading) = {
            let mut list = self.lock();
            let place = Self::place(&mut list, name);
            (place, Arc::clone(&list[place].loading))
        };
        // A load that panicked left nothing here.
        let _loading = loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thing) = self.lock()[place].revived() {
            let thing = thing.downcast::<T>();
            return Ok(thing.unwrap_or_else(|_| panic!("`{name}` is resident, and something of another type")));
        }
        let thing = Arc::new(load()?);
        let kept: Arc<Loaded> = Arc::<T>::clone(&thing);
        let resident = &mut self.lock()[place];
        (resident.last, resident.kept) = (Some(Arc::downgrade(&kept)), Some(kept));
        Ok(thing)
    }

    /// The names of what is loaded.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().iter().filter(|resident| resident.kept.is_some()).map(|resident| resident.name.clone()).collect()
    }
}

impl Resident {
    /// The thing, resident again if somebody still has it.
    fn revived(&mut self) -> Option<Arc<Loaded>> {
        if self.kept.is_none() {
            self.kept = self.last.as_ref().and_then(Weak::upgrade);
        }
        self.kept.clone()
    }
}

/// The name in a place.
fn at(list: &[Resident], place: u64) -> Option<&Resident> {
    list.get(usize::try_from(place).ok()?)
}

impl Keeper for Residents {
    fn place_of(&self, address: usize) -> Option<u64> {
        let lies_there = |resident: &Resident| {
            // The address is some other thing's once nobody has this one.
            let last = resident.last.as_ref().filter(|last| last.strong_count() > 0);
            last.is_some_and(|last| last.as_ptr().cast::<()>() as usize == address)
        };
        self.lock().iter().position(lies_there).map(|place| place as u64)
    }

    fn keeps(&self, place: u64) -> bool {
        at(&self.lock(), place).is_some_and(|resident| resident.kept.is_some())
    }

    fn is_held(&self, place: u64) -> bool {
        let list = self.lock();
        let kept = at(&list, place).and_then(|resident| resident.kept.as_ref());
        kept.is_some_and(|thing| Arc::strong_count(thing) > 1)
    }

    fn let_go(&self, place: u64) {
        let gone = {
            let mut list = self.lock();
            let resident = usize::try_from(place).ok().and_then(|place| list.get_mut(place));
            resident.and_then(|resident| resident.kept.take())
        };
        // Here, after the lock: it may take the kernel seconds.
        drop(gone);
    }
}

impl std::fmt::Debug for Residents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Residents").field(&self.names()).finish()
    }
}

#[cfg(test)]
#[path = "residents/tests.rs"]
mod tests;
