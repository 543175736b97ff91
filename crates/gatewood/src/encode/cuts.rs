//! Where to cut a column of numbers.

/// Up to `most` thresholds between neighbouring values, so that the rows between two thresholds are about as many
/// everywhere.
///
/// `values` are ascending and distinct, each with the number of rows that hold it. A value that holds more than its share of the
/// rows gets a place of its own, and the others share what is left. Each threshold is finite and separates: the value
/// before it is not greater, the value after it is.
///
/// `between` picks the threshold between two values.
pub(super) fn quantile_cuts(
    values: &[(f64, usize)],
    most: usize,
    between: impl Fn(f64, f64) -> Option<f64>,
) -> Vec<f64> {
    let gaps = values.len().saturating_sub(1);
    if gaps <= most {
        return values.windows(2).filter_map(|pair| between(pair[0].0, pair[1].0)).collect();
    }
    let mut cuts = Vec::with_capacity(most);
    let mut rows_left: usize = values.iter().map(|value| value.1).sum();
    let mut places_left = most + 1;
    let mut rows_here = 0;
    for (index, pair) in values.windows(2).enumerate() {
        if places_left == 1 {
            break;
        }
        rows_here += pair[0].1;
        let share = rows_left as f64 / places_left as f64;
        let next_is_heavy = pair[1].1 as f64 >= share && rows_here as f64 >= share * 0.5;
        // Half of the next value is on each side of the share: closer to stop before it.
        let nearly_full = rows_here as f64 + pair[1].1 as f64 * 0.5 >= share;
        let needed = gaps - index < places_left;
        if (next_is_heavy || nearly_full || needed)
            && let Some(cut) = between(pair[0].0, pair[1].0)
        {
            cuts.push(cut);
            rows_left -= rows_here;
            rows_here = 0;
            places_left -= 1;
        }
    }
    cuts
}

/// A short number close to the middle of two: not less than `lower`, less than `upper`. `None` when no finite one is.
pub(super) fn between(lower: f64, upper: f64) -> Option<f64> {
    let separates = |cut: f64| cut.is_finite() && lower <= cut && cut < upper;
    let (from, to) = (lower.max(f64::MIN), upper.min(f64::MAX));
    let middle = from / 2.0 + to / 2.0;
    let slack = (to / 2.0 - from / 2.0) * 0.1;
    (0..17)
        .filter_map(|digits| format!("{middle:.digits$e}").parse().ok())
        .find(|&cut: &f64| separates(cut) && (cut - middle).abs() <= slack)
        .or_else(|| [middle, lower, from].into_iter().find(|&cut| separates(cut)))
}

/// A moment close to the middle of two, at midnight or on the hour or minute where that separates them too.
pub(super) fn between_moments(lower: f64, upper: f64) -> Option<f64> {
    let middle = lower / 2.0 + upper / 2.0;
    [86_400.0, 3600.0, 60.0, 1.0]
        .map(|unit| (middle / unit).floor() * unit)
        .into_iter()
        .find(|&cut| lower <= cut && cut < upper && middle - cut <= (upper - lower) * 0.25)
        .or_else(|| between(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_read_well() {
        let cases = [
            (37.0, 38.0, Some(37.5)),
            (0.0, 1.0, Some(0.5)),
            (17.0, 38.0, Some(28.0)),
            (0.1, 0.2, Some(0.15)),
            (-3.0, 3.0, Some(0.0)),
            (f64::NEG_INFINITY, f64::INFINITY, Some(0.0)),
            (f64::NEG_INFINITY, f64::MIN, None),
            (f64::MAX, f64::INFINITY, Some(f64::MAX)),
            (1.0, 1.0 + f64::EPSILON, Some(1.0)),
        ];
        for (lower, upper, cut) in cases {
            assert_eq!(between(lower, upper), cut, "{lower} {upper}");
        }
    }

    proptest! {
        #[test]
        fn cuts_separate_and_balance(
            mut numbers in prop::collection::vec(-1000i32..1000, 1..300),
            scale in -300i32..300,
            most in 1usize..40,
        ) {
            numbers.sort_unstable();
            let mut values: Vec<(f64, usize)> = Vec::new();
            for number in numbers {
                let value = f64::from(number) * 10f64.powi(scale);
                match values.last_mut() {
                    Some(last) if last.0 == value => last.1 += 1,
                    _ => values.push((value, 1)),
                }
            }
            let cuts = quantile_cuts(&values, most, between);
            prop_assert_eq!(cuts.len(), most.min(values.len() - 1));
            prop_assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]));
            // Each cut has values on both sides, and no two cuts part the values alike.
            let mut below: Vec<usize> =
                cuts.iter().map(|&cut| values.iter().filter(|value| value.0 <= cut).count()).collect();
            prop_assert!(below.iter().all(|&count| count > 0 && count < values.len()));
            below.dedup();
            prop_assert_eq!(below.len(), cuts.len());
            // No stretch is needlessly large: at most twice its share and one value more.
            let rows: usize = values.iter().map(|value| value.1).sum();
            let heaviest = values.iter().map(|value| value.1).max().unwrap();
            for ends in std::iter::once(f64::NEG_INFINITY).chain(cuts.iter().copied()).collect::<Vec<_>>().windows(2) {
                let inside: usize =
                    values.iter().filter(|value| value.0 > ends[0] && value.0 <= ends[1]).map(|value| value.1).sum();
                prop_assert!(inside <= 2 * rows / (most + 1) + heaviest + 1);
            }
        }
    }
}
