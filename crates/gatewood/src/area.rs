//! The area under the ROC curve.

/// The chance that a row that is `yes` has a larger margin than one that is not, equal margins counting half.
pub(crate) fn area_under_curve(
    margins: impl Iterator<Item = i32>,
    yes: impl Iterator<Item = bool>,
) -> Option<f64> {
    let mut rows: Vec<(i32, bool)> = margins.zip(yes).collect();
    rows.sort_unstable();
    let all_yes = rows.iter().filter(|row| row.1).count() as u128;
    let all_no = rows.len() as u128 - all_yes;
    if all_yes == 0 || all_no == 0 {
        return None;
    }
    // Twice the number of pairs in order, so that halves are whole.
    let (mut below, mut twice) = (0u128, 0u128);
    for equal in rows.chunk_by(|a, b| a.0 == b.0) {
        let yes = equal.iter().filter(|row| row.1).count() as u128;
        let no = equal.len() as u128 - yes;
        twice += yes * (2 * below + no);
        below += no;
    }
    Some(twice as f64 / (2 * all_yes * all_no) as f64)
}
