//! Keys and circuits that stay in memory between jobs.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pipeline_runtime::admission::Keeper;

/// Things that are loaded once and shared by the jobs that need them: proving keys and circuits, under names of the
/// caller's choice.
///
/// Give it to [`Options::keeper`](crate::Options): then what is here counts in the memory that there is for jobs, from the
/// first job that uses it on. While memory is to be had it stays, whether or not a job uses it; when a job needs more than
/// is left, what has been idle for the longest time is dropped here, behind the permits of `dealloc`, and
/// [`get`](Self::get) loads it anew when it is asked for again. What a job uses, or waits to use, is never freed: jobs share
/// its ownership. A caller who keeps a clone of what `get` gave keeps the memory.
#[derive(Default)]
pub struct Residents {
    list: Mutex<Vec<Resident>>,
}

struct Resident {
    name: String,
    /// Loaded, or held by who loads it.
    place: Arc<Mutex<Option<Arc<dyn Any + Send + Sync>>>>,
    /// Where it lies, once it is loaded.
    number: Option<usize>,
}

impl Residents {
    /// None yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Resident>> {
        // Entries are pushed and removed whole.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
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
        let place = {
            let mut list = self.lock();
            match list.iter().find(|resident| resident.name == name) {
                Some(resident) => Arc::clone(&resident.place),
                None => {
                    let place = Arc::default();
                    list.push(Resident { name: name.to_owned(), place: Arc::clone(&place), number: None });
                    place
                }
            }
        };
        // A load that panicked left nothing here.
        let mut loaded = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thing) = &*loaded {
            let thing = Arc::clone(thing).downcast::<T>();
            return Ok(thing.unwrap_or_else(|_| panic!("`{name}` is resident, and something of another type")));
        }
        let thing = Arc::new(load()?);
        *loaded = Some(Arc::clone(&thing) as _);
        // It may have been let go while this caller waited for its turn: then it is resident again.
        let mut list = self.lock();
        let number = Some(Arc::as_ptr(&thing) as usize);
        match list.iter_mut().find(|resident| Arc::ptr_eq(&resident.place, &place)) {
            Some(resident) => resident.number = number,
            None => list.push(Resident { name: name.to_owned(), place: Arc::clone(&place), number }),
        }
        Ok(thing)
    }

    /// The names of what is loaded.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().iter().filter(|resident| resident.number.is_some()).map(|resident| resident.name.clone()).collect()
    }
}

impl Keeper for Residents {
    fn keeps(&self, number: usize) -> bool {
        self.lock().iter().any(|resident| resident.number == Some(number))
    }

    fn let_go(&self, number: usize) {
        let gone = {
            let mut list = self.lock();
            list.iter().position(|resident| resident.number == Some(number)).map(|at| list.swap_remove(at))
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
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_loaded_once_until_it_is_let_go() {
        let residents = Residents::new();
        assert_eq!(residents.get("key", || Err::<u64, _>("no file")), Err("no file"));
        assert_eq!(residents.names(), [""; 0], "what failed is not there");
        let first = residents.get("key", || Ok::<_, ()>(7_u64)).unwrap();
        let again = residents.get::<u64, ()>("key", || panic!("it is there")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let number = Arc::as_ptr(&first) as usize;
        assert!(residents.keeps(number) && !residents.keeps(number + 8));
        residents.let_go(number + 8);
        assert_eq!(residents.names(), ["key"]);
        residents.let_go(number);
        assert!(!residents.keeps(number) && residents.names().is_empty());
        assert_eq!(Arc::strong_count(&first), 2, "only its users have it now");
        assert_eq!(*residents.get("key", || Ok::<_, ()>(8_u64)).unwrap(), 8);
    }

    #[test]
    fn who_comes_while_it_is_loaded_waits_for_it() {
        let residents = Residents::new();
        let (begun, may_end) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
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
            assert!(!residents.keeps(0) && residents.names() == ["other"]);
            let waits = scope.spawn(|| residents.get::<u64, ()>("key", || panic!("somebody loads it")));
            may_end.wait();
            assert!(Arc::ptr_eq(&loads.join().unwrap().unwrap(), &waits.join().unwrap().unwrap()));
        });
    }
}
