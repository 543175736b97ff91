//! The parts of rayon that the library uses, on one thread: each loop takes its turns in order.
//!
//! What is learned and predicted is the same: with threads, too, no result depends on their number.

use std::iter::{Enumerate, Filter, FilterMap, Map, Once, Zip};
use std::ops::Range;
use std::slice::{Chunks, ChunksExactMut, ChunksMut, Iter, IterMut};

/// A pool of one thread.
#[cfg(any(not(feature = "parallel"), target_family = "wasm"))]
pub(crate) mod pool {
    use crate::Result;

    /// Runs work; one thread is all there is.
    pub(crate) fn in_pool<T: Send>(_: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        work()
    }

    /// One thread, for many pieces of work.
    #[derive(Clone)]
    pub(crate) struct Pool;

    impl Pool {
        pub(crate) fn new(_: usize) -> Result<Self> {
            Ok(Self)
        }

        pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
            work()
        }
    }

    /// As [`in_pool`].
    pub(crate) fn in_wakeful_pool<T: Send>(
        _: usize,
        _: usize,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> Result<T> {
        work()
    }

    /// What a function makes of each item.
    pub(crate) fn each_awake<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
        items.into_iter().map(work).collect()
    }

    /// Runs work, and tells it that it is not in a pool.
    pub(crate) fn with_pool<T: Send>(_: usize, _: bool, work: impl FnOnce(bool) -> T + Send) -> T {
        work(false)
    }

    /// What a function makes of each number under `count`.
    pub(crate) fn each<T: Send>(_: bool, count: usize, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        (0..count).map(work).collect()
    }
}

/// An iterator with the methods of a parallel one; those that differ from an iterator's are why it is needed.
#[derive(Debug, Clone)]
pub(crate) struct Sequential<I>(I);

/// What can be looped over.
pub(crate) trait IntoParallelIterator {
    /// What the loop takes turns with.
    type Turns: Iterator;

    /// The loop.
    fn into_par_iter(self) -> Sequential<Self::Turns>;
}

impl<T> IntoParallelIterator for Vec<T> {
    type Turns = std::vec::IntoIter<T>;

    fn into_par_iter(self) -> Sequential<Self::Turns> {
        Sequential(self.into_iter())
    }
}

impl IntoParallelIterator for Range<usize> {
    type Turns = Self;

    fn into_par_iter(self) -> Sequential<Self> {
        Sequential(self)
    }
}

impl<I: Iterator> IntoParallelIterator for Sequential<I> {
    type Turns = I;

    fn into_par_iter(self) -> Self {
        self
    }
}

/// Loops over lists and their pieces.
pub(crate) trait ParallelSlice<T> {
    fn par_iter(&self) -> Sequential<Iter<'_, T>>;
    fn par_iter_mut(&mut self) -> Sequential<IterMut<'_, T>>;
    fn par_chunks(&self, length: usize) -> Sequential<Chunks<'_, T>>;
    fn par_chunks_mut(&mut self, length: usize) -> Sequential<ChunksMut<'_, T>>;
    fn par_chunks_exact_mut(&mut self, length: usize) -> Sequential<ChunksExactMut<'_, T>>;
}

impl<T> ParallelSlice<T> for [T] {
    fn par_iter(&self) -> Sequential<Iter<'_, T>> {
        Sequential(self.iter())
    }

    fn par_iter_mut(&mut self) -> Sequential<IterMut<'_, T>> {
        Sequential(self.iter_mut())
    }

    fn par_chunks(&self, length: usize) -> Sequential<Chunks<'_, T>> {
        Sequential(self.chunks(length))
    }

    fn par_chunks_mut(&mut self, length: usize) -> Sequential<ChunksMut<'_, T>> {
        Sequential(self.chunks_mut(length))
    }

    fn par_chunks_exact_mut(&mut self, length: usize) -> Sequential<ChunksExactMut<'_, T>> {
        Sequential(self.chunks_exact_mut(length))
    }
}

impl<I: Iterator> Sequential<I> {
    pub(crate) fn enumerate(self) -> Sequential<Enumerate<I>> {
        Sequential(self.0.enumerate())
    }

    pub(crate) fn zip<J: IntoParallelIterator>(self, other: J) -> Sequential<Zip<I, J::Turns>> {
        Sequential(self.0.zip(other.into_par_iter().0))
    }

    pub(crate) fn map<T, F: FnMut(I::Item) -> T>(self, work: F) -> Sequential<Map<I, F>> {
        Sequential(self.0.map(work))
    }

    pub(crate) fn filter<F: FnMut(&I::Item) -> bool>(self, is_kept: F) -> Sequential<Filter<I, F>> {
        Sequential(self.0.filter(is_kept))
    }

    pub(crate) fn filter_map<T, F: FnMut(I::Item) -> Option<T>>(
        self,
        work: F,
    ) -> Sequential<FilterMap<I, F>> {
        Sequential(self.0.filter_map(work))
    }

    /// Each turn is given what `init` makes, here once for all of them.
    pub(crate) fn map_init<S, T>(
        self,
        init: impl FnOnce() -> S,
        work: impl Fn(&mut S, I::Item) -> T,
    ) -> Sequential<impl Iterator<Item = T>> {
        let mut state = init();
        Sequential(self.0.map(move |item| work(&mut state, item)))
    }

    pub(crate) fn for_each(self, work: impl FnMut(I::Item)) {
        self.0.for_each(work);
    }

    pub(crate) fn for_each_init<S>(self, init: impl FnOnce() -> S, work: impl Fn(&mut S, I::Item)) {
        let mut state = init();
        self.0.for_each(|item| work(&mut state, item));
    }

    pub(crate) fn try_for_each_init<S, E>(
        mut self,
        init: impl FnOnce() -> S,
        work: impl Fn(&mut S, I::Item) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut state = init();
        self.0.try_for_each(|item| work(&mut state, item))
    }

    pub(crate) fn reduce(
        self,
        identity: impl FnOnce() -> I::Item,
        both: impl Fn(I::Item, I::Item) -> I::Item,
    ) -> I::Item {
        self.0.fold(identity(), both)
    }

    /// One sum for each thread: one.
    pub(crate) fn try_fold<S, E>(
        mut self,
        identity: impl FnOnce() -> S,
        add: impl Fn(S, I::Item) -> Result<S, E>,
    ) -> Sequential<Once<Result<S, E>>> {
        Sequential(std::iter::once(self.0.try_fold(identity(), add)))
    }

    pub(crate) fn try_reduce<S, E>(
        mut self,
        identity: impl FnOnce() -> S,
        both: impl Fn(S, S) -> Result<S, E>,
    ) -> Result<S, E>
    where
        I: Iterator<Item = Result<S, E>>,
    {
        self.0.try_fold(identity(), |sum, item| both(sum, item?))
    }

    pub(crate) fn collect<C: FromIterator<I::Item>>(self) -> C {
        self.0.collect()
    }
}

/// Threads at work.
pub(crate) fn current_num_threads() -> usize {
    1
}

/// Both results.
pub(crate) fn join<A, B>(one: impl FnOnce() -> A, other: impl FnOnce() -> B) -> (A, B) {
    (one(), other())
}

/// Work that may begin work of its own.
#[derive(Debug)]
pub(crate) struct Scope;

impl Scope {
    /// Does the work at once: the first that is begun is the first that is done.
    pub(crate) fn spawn_fifo(&self, work: impl FnOnce(&Self)) {
        work(self);
    }
}

/// Runs work that may begin other work.
pub(crate) fn scope_fifo<T>(work: impl FnOnce(&Scope) -> T) -> T {
    work(&Scope)
}

#[cfg(test)]
mod tests {
    /// The same loops, to be run with either's methods in scope.
    macro_rules! loops {
        () => {{
            let mut words: Vec<u64> = (0..1000).collect();
            words.par_chunks_mut(64).enumerate().for_each_init(
                || 3,
                |more, (chunk, words)| words.iter_mut().for_each(|word| *word += chunk as u64 * *more),
            );
            words.par_chunks_exact_mut(7).zip(vec![5; 20]).for_each(|(words, more)| words[0] += more);
            words.par_iter_mut().enumerate().for_each(|(index, word)| *word ^= index as u64 % 3);
            let check = |most: &mut u64, (_, words): (usize, &[u64])| {
                if words[0] > *most { Err(words.len()) } else { Ok(()) }
            };
            let checked =
                [500, 5000].map(|most| words.par_chunks(512).enumerate().try_for_each_init(|| most, check));
            let small: Vec<u64> = words.par_iter().map(|word| word % 100).filter(|&word| word < 50).collect();
            let odd: Vec<usize> = (0..99).into_par_iter().filter_map(|n| (n % 2 == 1).then_some(n)).collect();
            let sum = words.par_chunks(10).map(|words| words.iter().sum::<u64>()).reduce(|| 0, |a, b| a + b);
            let add = |sum: u64, word: &u64| sum.checked_add(*word).ok_or(());
            let folded = words.par_iter().try_fold(|| 0, add).try_reduce(|| 0, |a, b| Ok(a + b));
            let made: Result<Vec<usize>, usize> =
                (0..50).into_par_iter().map_init(|| 2, |twice, n| Ok(n * *twice)).collect();
            let both = join(|| 1, || 2);
            let mut begun = Vec::new();
            scope_fifo(|scope| scope.spawn_fifo(|_| begun.push(1)));
            assert!(current_num_threads() > 0);
            (words, checked, (small, odd), sum, folded, made, both, begun)
        }};
    }

    #[test]
    fn one_thread_does_what_many_do() {
        let many = {
            use rayon::prelude::*;
            use rayon::{current_num_threads, join, scope_fifo};
            loops!()
        };
        let one = {
            use super::*;
            loops!()
        };
        assert_eq!(many, one);
        assert_eq!(one.1, [Err(488), Ok(())]);
    }
}
