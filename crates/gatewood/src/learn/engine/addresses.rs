//! The root address of every row.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Lists that a thread keeps for later: those of a round's trees.
const SPARE_LISTS: usize = 8;

/// The root address that each row has in a tree.
pub(crate) struct RowAddresses(Vec<u16>);

impl RowAddresses {
    /// Room for so many rows; what is there is to be written over.
    pub(super) fn room(rows: usize) -> Self {
        let mut list = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        list.resize(rows, 0);
        Self(list)
    }
}

impl FromIterator<u16> for RowAddresses {
    fn from_iter<I: IntoIterator<Item = u16>>(addresses: I) -> Self {
        Self(addresses.into_iter().collect())
    }
}

impl Deref for RowAddresses {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.0
    }
}

impl DerefMut for RowAddresses {
    fn deref_mut(&mut self) -> &mut [u16] {
        &mut self.0
    }
}

impl Drop for RowAddresses {
    fn drop(&mut self) {
        let list = std::mem::take(&mut self.0);
        // A thread that ends keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_LISTS {
                spare.push(list);
            }
        });
    }
}

thread_local! {
    /// The lists of earlier trees, for later ones: fresh ones are zeroed page by page as they are first written. Threads live as
    /// long as the work they were started for.
    static SPARE: RefCell<Vec<Vec<u16>>> = const { RefCell::new(Vec::new()) };
}
