//! Columns whose values nobody needs any more, as memory for something else.

use blstrs::Scalar;
use ff::Field;
use proofline_memory::{Arena, Lender};

use crate::secret::SecretScalars;

/// Columns that are lent; each has its memory back when this is dropped, with zeros wherever it was used.
pub(crate) struct Lending<'a, const N: usize> {
    columns: [(&'a mut SecretScalars, usize); N],
    /// `None` only while it is being dropped.
    lender: Option<Lender>,
}

impl<'a, const N: usize> Lending<'a, N> {
    /// Lends columns, whose values are lost; nothing is lent if one of them is not in memory of an arena.
    pub(crate) fn of(columns: [&'a mut SecretScalars; N]) -> Option<Self> {
        if !columns.iter().all(|column| column.is_in_arena()) {
            return None;
        }
        let mut columns = columns.map(|column| {
            let len = column.len();
            (column, len)
        });
        let pages = columns.iter_mut().filter_map(|(column, _)| column.take_pages()).collect();
        Some(Self { columns, lender: Some(Lender::new(pages)) })
    }

    /// An arena that hands out the columns' memory. All that it gave must be dropped before the columns come back.
    pub(crate) fn arena(&self) -> Arena {
        let maps = Arena::default();
        self.lender.as_ref().map_or(maps.clone(), |lender| lender.arena(&maps))
    }
}

impl<const N: usize> Drop for Lending<'_, N> {
    fn drop(&mut self) {
        let mut back = self.lender.take().and_then(|lender| lender.take_back(Scalar::ZERO)).into_iter().flatten();
        for (column, len) in &mut self.columns {
            // Columns that somebody keeps a part of do not come back; others take their place.
            **column = back.next().map_or_else(|| SecretScalars::zeros(*len), SecretScalars::from);
        }
    }
}

#[cfg(test)]
mod tests {
    use proofline_memory::List;

    use super::*;

    const LEN: usize = 50_000;

    fn columns() -> [SecretScalars; 2] {
        let arena = Arena::default();
        [1, 2].map(|value| {
            let mut column = SecretScalars::zeros_in(&arena, LEN);
            column.fill(Scalar::from(value));
            column
        })
    }

    #[test]
    fn columns_come_back_where_they_were_without_what_was_put_there() {
        let [mut a, mut b] = columns();
        let addresses = [a.as_ptr(), b.as_ptr()];
        let lending = Lending::of([&mut a, &mut b]).unwrap();
        let arena = lending.arena();
        let mut lists = [1000, LEN].map(|len| {
            let mut list = List::<[u64; 4]>::new(&arena);
            list.resize(len, [u64::MAX; 4]);
            list
        });
        lists[1][LEN - 1] = [7; 4];
        assert_eq!(lists.each_ref().map(|list| list.as_ptr().cast()), addresses);
        assert_eq!(arena.counts().maps, 0);
        drop((lists, arena, lending));
        assert_eq!([a.as_ptr(), b.as_ptr()], addresses);
        assert!(a[..1000].iter().chain(&b[..]).all(|value| *value == Scalar::ZERO));
        assert!(a.len() == LEN && b.len() == LEN);
    }

    #[test]
    fn columns_are_there_also_after_a_panic_or_when_somebody_keeps_their_memory() {
        let [mut a, mut b] = columns();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let lending = Lending::of([&mut a, &mut b]).unwrap();
            let _list = List::<u8>::new(&lending.arena());
            panic!("on the way");
        }));
        assert!(panicked.is_err());
        assert_eq!((a.len(), b.len()), (LEN, LEN));
        let lending = Lending::of([&mut a, &mut b]).unwrap();
        let mut kept = List::<u8>::new(&lending.arena());
        kept.resize(1000, 5);
        drop(lending);
        assert_eq!((a.len(), b.len(), a[0], b[0]), (LEN, LEN, Scalar::ZERO, Scalar::ZERO));
        a.fill(Scalar::ONE);
        assert!(kept.iter().all(|value| *value == 5));
    }

    #[test]
    fn columns_on_the_heap_are_not_lent() {
        let [mut a, _] = columns();
        let mut b = SecretScalars::zeros(3);
        assert!(Lending::of([&mut a, &mut b]).is_none());
        assert_eq!((a[0], b.len()), (Scalar::ONE, 3));
    }
}
