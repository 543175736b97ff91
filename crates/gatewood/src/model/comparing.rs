//! Whether columns are to be compared with each other: a table is learned without and with, and held-out rows choose.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::train::{Trained, Training, learn_with};
use super::{LearnSettings, Rows, TrainSettings};
use crate::Result;
use crate::encode::MOST_PAIRS;
use crate::learn::{CurvePoint, Observer, Progress};

/// Rows of a table that comparisons of columns are tried on by default: fewer are too few to choose by, more take long. Of PMLB's sets
/// below them, analcatdata_creditscore took comparisons on two of three draws of its training rows, and lost by it on others both times.
const TRY_COMPARISONS: Range<usize> = 250..20_000;

/// The part of the held-out loss that comparisons of columns must leave at the most to be worth having: they are more to read, and
/// models with them cannot be asked for reasons.
const WORTH_COMPARING: f64 = 0.9;

/// A held-out loss that leaves nothing to gain.
const NO_LOSS: f64 = 0.01;

/// [`train`](super::train()) on rows that are ready for it.
///
/// An observer that stops the trial of comparisons gets the model that was learned before it.
pub(super) fn learn(
    training: &Training<'_>,
    settings: &TrainSettings,
    observer: &dyn Observer,
) -> Result<Trained> {
    let given = settings.encode.compare.map_or(0, |pairs| pairs as usize);
    if !may_compare(training, settings) {
        return match learn_with(training, settings, given, observer)? {
            Some(trained) => Ok(trained),
            None => without(training, settings, observer),
        };
    }
    let first = Half { observer, before: 0, own: AtomicU64::new(0) };
    let plain = without(training, settings, &first)?;
    let loss = |trained: &Trained| trained.grove.as_ref().and_then(|grove| grove.held_out_loss);
    if !loss(&plain).is_some_and(|loss| loss > NO_LOSS) {
        return Ok(plain);
    }
    let second = Half { observer, before: first.own.into_inner().max(1), own: AtomicU64::new(0) };
    let comparing = match learn_with(training, settings, MOST_PAIRS, &second) {
        Ok(Some(comparing)) => comparing,
        Ok(None) => return Ok(plain),
        Err(error) if error.is_cancelled() => return Ok(Trained { was_stopped: true, ..plain }),
        Err(error) => return Err(error),
    };
    let pays =
        loss(&comparing).zip(loss(&plain)).is_some_and(|(with, without)| with < WORTH_COMPARING * without);
    let (encode_time, learn_time) =
        (plain.encode_time + comparing.encode_time, plain.learn_time + comparing.learn_time);
    let both = plain.processor_time.zip(comparing.processor_time);
    let processor_time = both.map(|(plain, comparing)| plain + comparing);
    Ok(Trained { encode_time, learn_time, processor_time, ..if pays { comparing } else { plain } })
}

/// Learns without comparisons.
fn without(training: &Training<'_>, settings: &TrainSettings, observer: &dyn Observer) -> Result<Trained> {
    match learn_with(training, settings, 0, observer)? {
        Some(plain) => Ok(plain),
        None => unreachable!("nothing is compared"),
    }
}

/// Whether comparisons of columns may be tried: classes of a table of few rows, nothing being said of it. Held-out rows that choose
/// how long to learn must be there too, which only learning tells.
fn may_compare(training: &Training<'_>, settings: &TrainSettings) -> bool {
    let LearnSettings::Grove(grove) = &settings.learn else { return false };
    let is_open = grove.max_gates.is_none() && grove.time_limit.is_none() && grove.refits.is_none();
    let is_table = matches!(training.train.rows, Rows::Raw(table) if table.pixels().is_none());
    settings.encode.compare.is_none()
        && settings.encode.image.is_none()
        && training.start.is_none()
        && training.train.labels.values().is_none()
        && TRY_COMPARISONS.contains(&training.train.rows.len())
        && is_open
        && is_table
}

/// Tells an observer of one of two trainings as a half of the whole work. Rounds are told of the first alone.
struct Half<'a> {
    observer: &'a dyn Observer,
    /// Units of work before this half; none before the first.
    before: u64,
    /// Units of work of this half, as far as is known.
    own: AtomicU64,
}

impl Observer for Half<'_> {
    fn progress(&self, progress: Progress) {
        self.own.store(progress.total, Ordering::Relaxed);
        let other = if self.before == 0 { progress.total } else { self.before };
        let done = self.before.saturating_add(progress.done);
        self.observer.progress(Progress { done, total: progress.total.saturating_add(other) });
    }

    fn round(&self, point: &CurvePoint) {
        if self.before == 0 {
            self.observer.round(point);
        }
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::encode::{Column, Labels, Numbers, Table};

    /// Two columns of which the greater says the class.
    fn rows() -> (Table, Labels) {
        let number = |row: usize, factor: usize| (row * factor % 401) as f64;
        let column = |factor| Column::Number(Numbers::F64((0..400).map(|row| number(row, factor)).collect()));
        let table = Table::new(vec![("a".into(), column(149)), ("b".into(), column(211))]).unwrap();
        let codes = (0..400).map(|row| u32::from(number(row, 149) > number(row, 211))).collect();
        (table, Labels::new(vec!["no".into(), "yes".into()], codes).unwrap())
    }

    /// Remembers how far the work was, and stops it behind a half of it if asked to.
    #[derive(Default)]
    struct Watching {
        seen: Mutex<Vec<Progress>>,
        stops_in_the_trial: bool,
        is_in_the_trial: AtomicBool,
    }

    impl Observer for Watching {
        fn progress(&self, progress: Progress) {
            self.seen.lock().unwrap().push(progress);
            self.is_in_the_trial.fetch_or(2 * progress.done > progress.total, Ordering::Relaxed);
        }

        fn stop(&self) -> bool {
            self.stops_in_the_trial && self.is_in_the_trial.load(Ordering::Relaxed)
        }
    }

    fn settings(compare: Option<u32>) -> TrainSettings {
        let mut settings = TrainSettings::from_json("grove", "{}").unwrap();
        settings.encode.compare = compare;
        settings.learn.set_threads(1);
        settings
    }

    #[test]
    fn a_trial_that_is_stopped_leaves_the_model_without_comparisons() {
        let (table, labels) = rows();
        let training = Training::new(Rows::Raw(table.view()), &labels);
        let whole = Watching::default();
        let trained = learn(&training, &settings(None), &whole).unwrap();
        assert!(trained.encoding.as_ref().unwrap().comparisons > 0 && !trained.was_stopped);
        // The trial is a half of the work that is shown.
        let seen = whole.seen.into_inner().unwrap();
        assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done));
        assert!(seen.iter().all(|progress| progress.done <= progress.total));
        let middle =
            seen.iter().filter(|progress| (50..100).contains(&(100 * progress.done / progress.total)));
        assert!(middle.count() > 10);

        let stopped = Watching { stops_in_the_trial: true, ..Watching::default() };
        let trained = learn(&training, &settings(None), &stopped).unwrap();
        assert!(trained.was_stopped && trained.notes().iter().any(|note| note.contains("stopped")));
        let plain = learn(&training, &settings(Some(0)), &Watching::default()).unwrap();
        assert_eq!(trained.model.circuit(), plain.model.circuit());
        assert_eq!(trained.model.encoder(), plain.model.encoder());
    }
}
