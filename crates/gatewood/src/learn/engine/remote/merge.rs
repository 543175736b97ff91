//! Adding up the answers of parts where they are, so that fewer bytes reach the coordinator.

use super::wire::{Reader, Writer};
use super::{DONE, op};

/// Answers to messages of one kind, those of sums and losses added up: the first has them all then, and the others are empty.
///
/// Answers that are of another kind, or that do not go together, stay as they are. The coordinator takes both.
#[must_use]
pub fn merged_answers(kind: u8, answers: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if !matches!(kind, op::STEP | op::SUM | op::LOSS | op::SCALED_LOSS) {
        return answers;
    }
    // Parts whose answers another worker has added up have nothing left to say.
    let told: Vec<&[u8]> = answers.iter().map(Vec::as_slice).filter(|answer| *answer != [DONE]).collect();
    let Some(merged) = merged(kind, &told) else { return answers };
    std::iter::once(merged).chain(std::iter::repeat_n(vec![DONE], answers.len() - 1)).collect()
}

fn merged(kind: u8, answers: &[&[u8]]) -> Option<Vec<u8>> {
    let [first, others @ ..] = answers else { return None };
    if others.is_empty() || answers.iter().any(|answer| answer.len() != first.len() || answer[0] != DONE) {
        return None;
    }
    let mut sum = Writer::new();
    sum.byte(DONE);
    let mut readers: Vec<Reader<'_>> = answers.iter().map(|answer| Reader::new(&answer[1..])).collect();
    let length = first.len() - 1;
    if kind == op::SCALED_LOSS {
        for _ in 0..length / 16 {
            let wide = |sum: i128, reader: &mut Reader<'_>| sum.checked_add(reader.wide().ok()?);
            sum.wide(readers.iter_mut().try_fold(0, wide)?);
        }
        return Some(sum.finish());
    }
    // Sums have their number before them; the two of a loss have none.
    if length % 16 == 8 {
        let counts: Option<Vec<u64>> = readers.iter_mut().map(|reader| reader.number().ok()).collect();
        let count = counts?.iter().try_fold(None, |known: Option<u64>, &count| {
            known.is_none_or(|known| known == count).then_some(Some(count))
        })??;
        sum.number(count);
    }
    for _ in 0..length / 16 * 2 {
        let number = |sum: i64, reader: &mut Reader<'_>| sum.checked_add(reader.number().ok()? as i64);
        sum.number(readers.iter_mut().try_fold(0, number)? as u64);
    }
    Some(sum.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(write: impl Fn(&mut Writer)) -> Vec<u8> {
        let mut answer = Writer::new();
        answer.byte(DONE);
        write(&mut answer);
        answer.finish()
    }

    #[test]
    fn sums_are_added_up_and_all_else_is_left_alone() {
        let sums = |list: &[i64]| {
            answer(|to| {
                to.number(list.len() as u64 / 2);
                list.iter().for_each(|&sum| {
                    to.number(sum as u64);
                });
            })
        };
        let all = vec![sums(&[1, 2, -3, 4]), vec![DONE], sums(&[10, 20, -30, 40])];
        let added = vec![sums(&[11, 22, -33, 44]), vec![DONE], vec![DONE]];
        assert_eq!(merged_answers(op::STEP, all.clone()), added);
        assert_eq!(merged_answers(op::SUM, all.clone()), added);
        assert_eq!(merged_answers(op::WEIGH, all.clone()), all);

        let loss = |wrong: u64, loss: i64| {
            answer(|to| {
                to.number(wrong).number(loss as u64);
            })
        };
        assert_eq!(merged_answers(op::LOSS, vec![loss(3, -5), loss(4, 9)]), [loss(7, 4), vec![DONE]]);
        let scaled = |sum: i128| {
            answer(|to| {
                to.wide(sum).wide(-sum).wide(1 << 90);
            })
        };
        let expected = answer(|to| {
            to.wide(3).wide(-3).wide(1 << 91);
        });
        assert_eq!(merged_answers(op::SCALED_LOSS, vec![scaled(1), scaled(2)]), [expected, vec![DONE]]);

        for odd in [vec![super::super::UNKNOWN], Vec::new(), sums(&[1, 2]), loss(1, i64::MAX)] {
            let all = vec![loss(1, i64::MAX), odd];
            assert_eq!(merged_answers(op::STEP, all.clone()), all);
        }
    }
}
