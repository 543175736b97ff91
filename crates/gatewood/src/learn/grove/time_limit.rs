//! Learning within a given time: how long it may take, and the plan that makes most of it.

use crate::platform::Instant;

use super::fit::Setup;
use super::settings::GrovePlan;
use crate::Result;
use crate::learn::engine::Engine;
use crate::learn::{CurvePoint, Observer, Progress, Tracker};

/// The part of the time that is spent on finding out how long a round takes, and the rounds after which that is known.
const TRIAL: (f64, usize) = (0.05, 10);

/// The part of the time left that is planned for: rounds do not all take as long.
const PLANNED: f64 = 0.9;

/// How many times fewer rounds than usual there can be before they are rather cut off, and how many times more.
const FEWER: f64 = 16.0;
const MORE: f64 = 4.0;

/// For fewer rounds the rate grows by this power: ten digits and Fashion-MNIST are best learned with rates of 0.28 after 60
/// rounds, 0.14 to 0.2 after 125 and 0.05 after 1,000. For more rounds it falls as they grow, or too much would be learned.
const RATE_POWER: f64 = 2.0 / 3.0;

/// The highest rate that is chosen for want of time.
const HIGHEST_RATE: f64 = 0.5;

/// The part of the most rounds that folds usually choose.
const USUAL_PART: f64 = 0.125;

/// How many times as long a slower grove must be able to take as the one before it to be worth learning.
const WORTHWHILE: f64 = 1.5;

/// When learning must end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    begun: Instant,
    seconds: f64,
}

impl Clock {
    /// A clock that begins now; it never ends without a limit.
    pub(super) fn new(limit: Option<f64>) -> Self {
        Self { begun: Instant::now(), seconds: limit.unwrap_or(f64::INFINITY) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left() <= 0.0
    }

    fn left(&self) -> f64 {
        self.seconds - self.spent()
    }

    pub(super) fn spent(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// A clock for such a part of the time left.
    pub(super) fn part(&self, part: f64) -> Self {
        Self { begun: Instant::now(), seconds: self.left() * part }
    }
}

/// Reports the time spent as the work done.
pub(super) struct Timed<'a> {
    pub(super) observer: &'a dyn Observer,
    pub(super) clock: Clock,
}

impl Observer for Timed<'_> {
    fn progress(&self, _: Progress) {
        let Clock { seconds, .. } = self.clock;
        let [done, total] = [self.clock.spent().min(seconds), seconds].map(|seconds| (seconds * 1e3) as u64);
        self.observer.progress(Progress { done, total });
    }

    fn round(&self, point: &CurvePoint) {
        self.observer.round(point);
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}

/// The plan with as many rounds as there is time for, and the learning rate that suits so many. Where rows are held out to
/// choose the rounds, more time than usual changes nothing yet.
pub(super) fn plan_within<E: Engine>(
    setup: &Setup<'_, E>,
    mut plan: GrovePlan,
    clock: Clock,
    tracker: &Tracker<'_>,
) -> Result<GrovePlan> {
    let grower = setup.grower(plan.clone());
    let mut growing = setup.begin(&grower, None)?;
    let trial = clock.part(TRIAL.0);
    // When each round ended. The first takes longer than the others: memory is touched for the first time.
    let mut ends = vec![0.0];
    while ends.len() <= TRIAL.1 && (ends.len() < 3 || !trial.is_over()) {
        grower.round(ends.len() - 1, &mut growing, usize::MAX)?;
        tracker.check()?;
        ends.push(trial.spent());
    }
    let seconds_a_round = ((ends[ends.len() - 1] - ends[1]) / (ends.len() - 2) as f64).max(1e-9);
    // Each fold takes as long as the grove itself.
    let affordable = PLANNED * clock.left() / seconds_a_round / (plan.cv_folds + 1) as f64;
    if plan.cv_folds > 0 {
        let usual = USUAL_PART * plan.rounds as f64;
        slow_down(&mut plan, (affordable / usual).clamp(1.0 / FEWER, 1.0), 1.0);
    } else {
        let usual = if growing.easy == Some(true) { plan.easy_rounds } else { plan.rounds } as f64;
        let times = (affordable / usual).clamp(1.0 / FEWER, MORE);
        plan.rounds = (usual * times).ceil() as usize;
        plan.easy_rounds = plan.rounds;
        slow_down(&mut plan, times, if times < 1.0 { RATE_POWER } else { 1.0 });
    }
    Ok(plan)
}

/// The plan of a grove that learns more slowly than the last, which `took` so many seconds, where folds choose the rounds and
/// there is time left for it; but at no less than a part of the usual rate.
pub(super) fn slower_plan(last: &GrovePlan, usual_rate: f64, took: f64, clock: Clock) -> Option<GrovePlan> {
    let times = (PLANNED * clock.left() / took).min(last.learning_rate * MORE / usual_rate);
    if last.cv_folds == 0 || times < WORTHWHILE {
        return None;
    }
    let mut plan = last.clone();
    plan.rounds = (plan.rounds as f64 * times).ceil() as usize;
    plan.easy_rounds = plan.rounds;
    slow_down(&mut plan, times, 1.0);
    Some(plan)
}

/// Lowers the rate for so many times as many rounds.
fn slow_down(plan: &mut GrovePlan, times: f64, power: f64) {
    let highest = plan.learning_rate.max(HIGHEST_RATE);
    plan.learning_rate = (plan.learning_rate / libm::pow(times, power)).min(highest);
}
