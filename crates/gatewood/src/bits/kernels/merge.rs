//! Columns of which any or all are one.

use super::levels;
use super::vector::Vector;

levels! {
    /// Writes in which rows all columns are one, or any is.
    fn merge(all: bool, columns: &[&[u64]], out: &mut [u64]) = merge_generic
}

#[inline(always)]
fn merge_generic<V: Vector>(all: bool, columns: &[&[u64]], out: &mut [u64]) {
    match (all, columns) {
        // As many as the lines of images have by default: all read before anything is written.
        (true, &[a, b, c, d, e, f]) => merge_six([a, b, c, d, e, f], out, |x, y| x & y),
        (false, &[a, b, c, d, e, f]) => merge_six([a, b, c, d, e, f], out, |x, y| x | y),
        (true, _) => merge_any(columns, out, |x, y| x & y),
        (false, _) => merge_any(columns, out, |x, y| x | y),
    }
}

#[inline(always)]
fn merge_six(columns: [&[u64]; 6], out: &mut [u64], with: impl Fn(u64, u64) -> u64) {
    let [a, b, c, d, e, f] = columns.map(|column| &column[..out.len()]);
    for (i, out) in out.iter_mut().enumerate() {
        *out = with(with(with(a[i], b[i]), with(c[i], d[i])), with(e[i], f[i]));
    }
}

#[inline(always)]
fn merge_any(columns: &[&[u64]], out: &mut [u64], with: impl Fn(u64, u64) -> u64) {
    out.copy_from_slice(&columns[0][..out.len()]);
    for column in &columns[1..] {
        out.iter_mut().zip(*column).for_each(|(out, &word)| *out = with(*out, word));
    }
}
