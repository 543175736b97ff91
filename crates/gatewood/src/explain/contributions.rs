//! Exact Shapley values of the margins, per raw column, against background rows.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::platform::parallel::*;

use super::flat::{Flat, lanes};
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{Grove, Output, Target};
use crate::model::{Circuit, Model, Rows};
use crate::pool::with_pool;
use crate::{Error, Result};

/// Background rows to take where nothing else is said.
pub const BACKGROUND_ROWS: usize = 100;

/// Raw columns in which a row and a background row may differ as one tree sees them.
const MAX_DIFFERENT: usize = 20;
/// Bits of the largest table of addresses that is made of a tree.
const TABLE_BITS: usize = 16;
/// Numbers that are summed up at once, for each thread.
const BATCH_NUMBERS: usize = 1 << 20;

/// What each raw column adds to the margins of some rows, against the mean of the background rows.
///
/// The values are exact: whole numbers of votes over [`Contributions::denominator`]. For every row and margin the values
/// of all columns add up to the margin minus the mean margin of the background, without rounding.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    columns: usize,
    margins: usize,
    unit: f64,
    /// The value at a margin of zero; zero for log-odds.
    offset: f64,
    denominator: i128,
    /// Numerators by row, margin and column.
    values: Vec<i128>,
    /// Numerators of the mean margins.
    means: Vec<i128>,
}

impl Contributions {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / (self.columns * self.margins).max(1)
    }

    /// Columns of the table the model was trained on; those that it does not read contribute nothing.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of margins: 1 for two classes, else one a class.
    pub fn margins(&self) -> usize {
        self.margins
    }

    /// What all numerators are divided by.
    pub fn denominator(&self) -> i128 {
        self.denominator
    }

    /// The numerators of a row's contributions to a margin, one a column.
    ///
    /// # Panics
    /// When there is no such row or margin.
    pub fn numerators(&self, row: usize, margin: usize) -> &[i128] {
        assert!(margin < self.margins, "margin {margin} of {}", self.margins);
        &self.values[(row * self.margins + margin) * self.columns..][..self.columns]
    }

    /// The numerator of the background's mean margin.
    pub fn mean_numerator(&self, margin: usize) -> i128 {
        self.means[margin]
    }

    /// A row's contributions to a margin, one a column: in log-odds, or in the units of the target where values are said.
    pub fn log_odds(&self, row: usize, margin: usize) -> Vec<f64> {
        self.numerators(row, margin).iter().map(|&value| self.scaled(value)).collect()
    }

    /// The background's mean margin in log-odds, or its mean value.
    pub fn mean_log_odds(&self, margin: usize) -> f64 {
        self.offset + self.scaled(self.means[margin])
    }

    fn scaled(&self, numerator: i128) -> f64 {
        self.unit * (numerator as f64 / self.denominator as f64)
    }
}

/// The Shapley values of each row's margins: what each raw column adds on average over all orders in which the columns
/// of a background row are replaced by those of the row, and over all background rows.
///
/// This is the interventional value that LightGBM and SHAP name `pred_contrib`, computed exactly and in whole numbers.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::circuit::{Grove, Target, VoteTree};
/// use gatewood::encode::Encoder;
/// use gatewood::explain::contributions;
/// use gatewood::model::{Circuit, Model, Rows};
/// // Three votes when both bits are one.
/// let tree = VoteTree::new(vec![2], Target::One(0), vec![0, 1], vec![], vec![0, 0, 0, 3])?;
/// let grove = Grove::new(2, 2, vec![0], 0.1, vec![tree])?;
/// let model = Model::new(Encoder::identity(2), Circuit::Grove(grove), vec!["no".into(), "yes".into()])?;
/// let row = BitMatrix::from_bools(2, &[true, true])?;
/// let background = BitMatrix::from_bools(2, &[false, false, false, true])?;
/// let found = contributions(&model, Rows::Bits(row.view()), Rows::Bits(background.view()), 1)?;
/// let halves: Vec<i128> = found.numerators(0, 0).iter().map(|value| 4 * value / found.denominator()).collect();
/// assert_eq!(halves, [9, 3], "9/4 and 3/4 of a vote, which add up to 3 - 0");
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the model is a single tree, which has no margins; when there are no background rows; when rows do not fit the
/// model; or when one tree reads so many columns that exact values would take too long.
pub fn contributions(
    model: &Model,
    rows: Rows<'_>,
    background: Rows<'_>,
    threads: usize,
) -> Result<Contributions> {
    if background.is_empty() {
        return Err(Error::data("contributions need background rows to compare with"));
    }
    let columns = Columns::of(model, rows);
    let (rows, background) = (Encoded::new(model, rows, threads)?, Encoded::new(model, background, threads)?);
    compute(model, &columns, rows.view(), background.view(), threads)
}

/// As [`contributions()`], with at most `most` of the rows themselves as the background, evenly spread.
///
/// # Errors
/// As [`contributions()`].
pub fn contributions_among(
    model: &Model,
    rows: Rows<'_>,
    most: usize,
    threads: usize,
) -> Result<Contributions> {
    let columns = Columns::of(model, rows);
    let rows = Encoded::new(model, rows, threads)?;
    let view = rows.view();
    let chosen = spread(view.rows(), most);
    if chosen.is_empty() {
        return Err(Error::data("contributions need background rows to compare with"));
    }
    let mut background = BitMatrix::zeros(chosen.len(), view.columns())?;
    for (column, words) in background.columns_mut().enumerate() {
        let from = view.column(column);
        for (to, &row) in chosen.iter().enumerate() {
            words[to / 64] |= (from[row / 64] >> (row % 64) & 1) << (to % 64);
        }
    }
    compute(model, &columns, view, background.view(), threads)
}

/// How many columns there are, and the column of each bit.
struct Columns {
    count: usize,
    of_bit: Vec<usize>,
}

impl Columns {
    /// Packed rows have a column for each bit.
    fn of(model: &Model, rows: Rows<'_>) -> Self {
        let encoder = model.encoder();
        match rows {
            Rows::Raw(_) => {
                let position =
                    |bit: usize| encoder.inputs()[encoder.meanings()[bit].column as usize].position;
                Self { count: encoder.width(), of_bit: (0..encoder.bits()).map(position).collect() }
            }
            Rows::Bits(bits) => Self { count: bits.columns(), of_bit: (0..bits.columns()).collect() },
        }
    }
}

fn compute(
    model: &Model,
    columns: &Columns,
    rows: BitView<'_>,
    background: BitView<'_>,
    threads: usize,
) -> Result<Contributions> {
    super::refuse_patterns(model)?;
    let Circuit::Grove(grove) = model.circuit() else {
        return Err(Error::data("a single tree has no margin that columns could contribute to"));
    };
    // What a vote is worth, and a margin of zero: in the units of the target, or of its logarithm, where values are said.
    let (unit, offset) = match grove.output() {
        Output::Classes(_) => (grove.unit(), 0.0),
        Output::Value(output) if output.margins() == 1 => (output.scale, output.offset),
        Output::Value(_) => {
            return Err(Error::setting(
                "contributions are for one value, and the model says several quantiles",
            ));
        }
    };
    let (columns, column_of) = (columns.count, &columns.of_bit[..]);
    let trees = grove.trees().iter().map(|tree| Local::new(grove, Flat::new(grove, tree), column_of));
    let trees = trees.collect::<Result<Vec<Local<'_>>>>()?;
    let deepest = trees.iter().map(|tree| tree.masks.len()).max().unwrap_or(0).clamp(1, MAX_DIFFERENT);
    let weights = Weights::new(deepest);
    let count = background.rows();
    let denominator = i128::from(weights.denominator) * count as i128;
    let of_background = model.predict_bits(background, threads)?;
    let margins = grove.margins();
    let mut means = vec![0i128; margins];
    for of_row in of_background.margins().unwrap_or_default().chunks(margins) {
        means.iter_mut().zip(of_row).for_each(|(mean, &margin)| *mean += i128::from(margin));
    }
    means.iter_mut().for_each(|mean| *mean *= i128::from(weights.denominator));

    let total = rows.rows();
    let size = columns.checked_mul(margins).and_then(|each| each.checked_mul(total));
    let size = size.ok_or_else(|| Error::too_large("there are too many rows for contributions at once"))?;
    let mut values: Vec<i128> = Vec::new();
    values
        .try_reserve_exact(size)
        .map_err(|_| Error::too_large(format!("the contributions to {total} rows do not fit into memory")))?;
    let each = (BATCH_NUMBERS / (columns * margins).max(1)).clamp(1, 1 << 14);
    with_pool(threads, trees.len() * total > 1000, |parallel| {
        for first in (0..total).step_by(each) {
            let batch = first..total.min(first + each);
            let numbers = batch.len() * columns * margins;
            let job = Job { grove, rows, background, columns, weights: &weights };
            let add = |mut sums: Vec<i128>, tree: &Local<'_>| -> Result<Vec<i128>> {
                job.add(tree, batch.clone(), &mut sums)?;
                Ok(sums)
            };
            let zeros = || vec![0i128; numbers];
            let sums = if parallel {
                let merge = |mut sums: Vec<i128>, others: Vec<i128>| {
                    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
                    Ok(sums)
                };
                // Whole numbers: the order of the sums does not matter.
                trees.par_iter().try_fold(zeros, add).try_reduce(zeros, merge)?
            } else {
                trees.iter().try_fold(zeros(), add)?
            };
            values.extend(sums);
        }
        Ok(())
    })?;
    Ok(Contributions { columns, margins, unit, offset, denominator, values, means })
}

/// The numbers of at most `most` of so many rows, evenly spread: a background that depends on nothing but the rows.
///
/// ```
/// assert_eq!(gatewood::explain::spread(10, 4), [0, 2, 5, 7]);
/// assert_eq!(gatewood::explain::spread(2, 4), [0, 1]);
/// ```
pub fn spread(rows: usize, most: usize) -> Vec<usize> {
    let count = rows.min(most);
    (0..count).map(|index| (index as u128 * rows as u128 / count as u128) as usize).collect()
}

/// Rows as bits, encoded here where they were not.
enum Encoded<'a> {
    Here(BitMatrix),
    There(BitView<'a>),
}

impl<'a> Encoded<'a> {
    fn new(model: &Model, rows: Rows<'a>, threads: usize) -> Result<Self> {
        match rows {
            Rows::Raw(table) => Ok(Self::Here(model.encoder().transform_on(table, threads)?)),
            Rows::Bits(bits) if bits.columns() == model.circuit().inputs() => Ok(Self::There(bits)),
            Rows::Bits(bits) => Err(Error::data(format!(
                "the rows have {} bits, the model takes {}",
                bits.columns(),
                model.circuit().inputs()
            ))),
        }
    }

    fn view(&self) -> BitView<'_> {
        match self {
            Self::Here(bits) => bits.view(),
            Self::There(bits) => *bits,
        }
    }
}

/// The weight of a coalition by the number of its players, over a common denominator.
struct Weights {
    denominator: i64,
    /// `of[players][others]`: the weight of the change that one of the players makes when it joins that many others.
    of: Vec<Vec<i64>>,
}

impl Weights {
    fn new(most: usize) -> Self {
        // All products `n * binomial(n - 1, s)` divide the least common multiple of 1 to n.
        let denominator = (1..=most as i64).fold(1, |all, n| all / gcd(all, n) * n);
        let of = (0..=most)
            .map(|players| {
                let mut ways = players as i64;
                (0..players)
                    .map(|others| {
                        let weight = denominator / ways;
                        ways = ways * (players - 1 - others) as i64 / (others + 1) as i64;
                        weight
                    })
                    .collect()
            })
            .collect();
        Self { denominator, of }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A tree, and which of its inputs belong to which raw column.
struct Local<'g> {
    flat: Flat<'g>,
    /// The raw columns, and the tree's inputs that each has.
    masks: Vec<(usize, u128)>,
    /// The root's address for every value of the inputs, where they are few.
    addresses: Option<Vec<u16>>,
}

impl<'g> Local<'g> {
    fn new(grove: &Grove, flat: Flat<'g>, column_of: &[usize]) -> Result<Self> {
        if flat.inputs().len() > 128 {
            return Err(Error::too_large(format!(
                "a tree reads {} of the {} bits, too many for exact contributions",
                flat.inputs().len(),
                grove.inputs()
            )));
        }
        let mut masks: BTreeMap<usize, u128> = BTreeMap::new();
        for (place, &bit) in flat.inputs().iter().enumerate() {
            *masks.entry(column_of[bit as usize]).or_default() |= 1 << place;
        }
        let addresses = (flat.inputs().len() <= TABLE_BITS).then(|| flat.addresses());
        Ok(Self { flat, masks: masks.into_iter().collect(), addresses })
    }

    /// The values of the tree's inputs in a row.
    fn key(&self, bits: BitView<'_>, row: usize) -> u128 {
        self.flat.inputs().iter().enumerate().fold(0, |key, (place, &bit)| {
            key | u128::from(bits.column(bit as usize)[row / 64] >> (row % 64) & 1) << place
        })
    }

    /// The root's address for each coalition of the columns that differ: those in it have the row's values.
    fn fill(&self, from: u128, changes: &[u128], buffers: &mut Buffers) {
        let coalitions = 1usize << changes.len();
        let Buffers { keys, addresses, values, scratch, .. } = buffers;
        addresses.clear();
        if let Some(table) = &self.addresses {
            keys.clear();
            keys.push(from as u32);
            for change in changes {
                let change = *change as u32;
                for index in 0..keys.len() {
                    keys.push(keys[index] ^ change);
                }
            }
            addresses.extend(keys.iter().map(|&key| table[key as usize]));
            return;
        }
        for first in (0..coalitions).step_by(64) {
            values.clear();
            values.extend((0..self.flat.inputs().len()).map(|place| {
                let start = 0u64.wrapping_sub((from >> place & 1) as u64);
                let player = changes.iter().position(|change| change >> place & 1 != 0);
                player.map_or(start, |player| start ^ lanes(player, first))
            }));
            self.flat.evaluate(values, scratch);
            addresses
                .extend((0..64.min(coalitions - first)).map(|row| self.flat.address(values, row) as u16));
        }
    }
}

#[derive(Default)]
struct Buffers {
    keys: Vec<u32>,
    addresses: Vec<u16>,
    values: Vec<u64>,
    scratch: Vec<u64>,
    votes: Vec<i32>,
    players: Vec<usize>,
    changes: Vec<u128>,
}

/// What the contributions of each tree are computed from.
struct Job<'a> {
    grove: &'a Grove,
    rows: BitView<'a>,
    background: BitView<'a>,
    columns: usize,
    weights: &'a Weights,
}

impl Job<'_> {
    /// Adds one tree's part for some rows. Rows that look the same to the tree are done once.
    fn add(&self, tree: &Local<'_>, rows: std::ops::Range<usize>, sums: &mut [i128]) -> Result<()> {
        let mut backgrounds: BTreeMap<u128, i128> = BTreeMap::new();
        (0..self.background.rows())
            .for_each(|row| *backgrounds.entry(tree.key(self.background, row)).or_default() += 1);
        let margins = self.grove.margins();
        let votes = tree.flat.tree();
        let (first_margin, width) = match votes.target() {
            Target::One(margin) => (margin as usize, 1),
            Target::All => (0, margins),
        };
        let players = tree.masks.len();
        let mut known: HashMap<u128, Vec<i128>> = HashMap::new();
        let mut buffers = Buffers::default();
        for (index, row) in rows.enumerate() {
            let key = tree.key(self.rows, row);
            let found = match known.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let mut found = vec![0i128; players * width];
                    for (&from, &count) in &backgrounds {
                        self.add_pair(tree, key, from, count, width, &mut buffers, &mut found)?;
                    }
                    place.insert(found)
                }
            };
            for margin in 0..width {
                let at = (index * margins + first_margin + margin) * self.columns;
                for ((column, _), value) in tree.masks.iter().zip(&found[margin * players..][..players]) {
                    sums[at + column] += value;
                }
            }
        }
        Ok(())
    }

    /// Adds what the columns contribute between one background row and one row, as a tree sees them.
    #[allow(clippy::too_many_arguments)]
    fn add_pair(
        &self,
        tree: &Local<'_>,
        to: u128,
        from: u128,
        count: i128,
        width: usize,
        buffers: &mut Buffers,
        sums: &mut [i128],
    ) -> Result<()> {
        let (mut players, mut changes) =
            (std::mem::take(&mut buffers.players), std::mem::take(&mut buffers.changes));
        players.clear();
        changes.clear();
        for (player, (_, mask)) in tree.masks.iter().enumerate() {
            let change = (to ^ from) & mask;
            if change != 0 {
                players.push(player);
                changes.push(change);
            }
        }
        if players.len() > MAX_DIFFERENT {
            return Err(Error::too_large(format!(
                "a row and a background row differ in {} columns that one tree reads; exact contributions are \
                 limited to {MAX_DIFFERENT}",
                players.len()
            )));
        }
        if !players.is_empty() {
            tree.fill(from, &changes, buffers);
            let weights = &self.weights.of[players.len()];
            for margin in 0..width {
                let votes = tree.flat.tree();
                buffers.votes.clear();
                buffers
                    .votes
                    .extend(buffers.addresses.iter().map(|&address| votes.votes_at(address.into())[margin]));
                for (place, &player) in players.iter().enumerate() {
                    let change = change_of(&buffers.votes, place, weights);
                    sums[margin * tree.masks.len() + player] += count * i128::from(change);
                }
            }
        }
        (buffers.players, buffers.changes) = (players, changes);
        Ok(())
    }
}

/// The weighted sum of what one player changes in all coalitions of the others.
fn change_of(votes: &[i32], player: usize, weights: &[i64]) -> i64 {
    let block = 1usize << player;
    let mut sum = 0;
    for start in (0..votes.len()).step_by(2 * block) {
        let (without, with) = votes[start..start + 2 * block].split_at(block);
        let outer = start.count_ones();
        for (inner, (&without, &with)) in without.iter().zip(with).enumerate() {
            let others = outer + inner.count_ones();
            sum += weights[others as usize] * (i64::from(with) - i64::from(without));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::{below, generator, random_span_grove};
    use crate::encode::{Column, EncodeSettings, Encoder, Numbers, Table, Texts};

    /// The definition: every subset of the columns, for every background row, in fractions of `columns!`.
    fn brute_force(
        grove: &Grove,
        groups: &[Vec<usize>],
        row: &[bool],
        background: &[Vec<bool>],
    ) -> Vec<Vec<i128>> {
        let players = groups.len();
        let factorial = |n: usize| (1..=n as i128).product::<i128>();
        let value = |coalition: usize, other: &[bool]| {
            let mut mixed = other.to_vec();
            for (player, bits) in groups.iter().enumerate().filter(|(player, _)| coalition >> player & 1 != 0)
            {
                let _ = player;
                bits.iter().for_each(|&bit| mixed[bit] = row[bit]);
            }
            grove.margins_of(|column| mixed[column])
        };
        let mut found = vec![vec![0; players]; grove.margins()];
        for other in background {
            for coalition in 0..1usize << players {
                let of = value(coalition, other);
                for player in (0..players).filter(|player| coalition >> player & 1 == 0) {
                    let with = value(coalition | 1 << player, other);
                    let size = coalition.count_ones() as usize;
                    let weight = factorial(size) * factorial(players - 1 - size);
                    for margin in 0..found.len() {
                        found[margin][player] += weight * i128::from(with[margin] - of[margin]);
                    }
                }
            }
        }
        found
    }

    fn check(model: &Model, rows: Rows<'_>, background: Rows<'_>, groups: &[Vec<usize>]) {
        let Circuit::Grove(grove) = model.circuit() else { panic!("a grove was made") };
        let found = contributions(model, rows, background, 2).unwrap();
        let bits = |rows: Rows<'_>| -> Vec<Vec<bool>> {
            let bits = Encoded::new(model, rows, 1).unwrap();
            let view = bits.view();
            (0..view.rows())
                .map(|row| {
                    (0..view.columns()).map(|c| view.column(c)[row / 64] >> (row % 64) & 1 != 0).collect()
                })
                .collect()
        };
        let (rows, background) = (bits(rows), bits(background));
        let all = (1..=groups.len() as i128).product::<i128>() * background.len() as i128;
        for (index, row) in rows.iter().enumerate() {
            let expected = brute_force(grove, groups, row, &background);
            let margins = grove.margins_of(|column| row[column]);
            for margin in 0..grove.margins() {
                let values = found.numerators(index, margin);
                for (value, expected) in values.iter().zip(&expected[margin]) {
                    assert_eq!(value * all, expected * found.denominator());
                }
                let sum: i128 = values.iter().sum();
                let whole = i128::from(margins[margin]) * found.denominator();
                assert_eq!(sum, whole - found.mean_numerator(margin), "local accuracy");
            }
        }
    }

    fn random_bits(seed: u64, rows: usize, columns: usize) -> BitMatrix {
        let mut rng = generator(seed);
        let bits: Vec<bool> = (0..rows * columns).map(|_| below(&mut rng, 2) == 1).collect();
        BitMatrix::from_bools(columns, &bits).unwrap()
    }

    #[test]
    fn values_equal_brute_force_over_all_subsets() {
        for seed in 0..12 {
            let classes = 2 + seed as usize % 3;
            let grove = random_span_grove(seed, 7, classes, 9, 30);
            let names = (0..classes).map(|class| format!("c{class}")).collect();
            let model = Model::new(Encoder::identity(7), Circuit::Grove(grove), names).unwrap();
            let (rows, background) = (random_bits(seed, 9, 7), random_bits(!seed, 5, 7));
            let groups: Vec<Vec<usize>> = (0..7).map(|bit| vec![bit]).collect();
            check(&model, Rows::Bits(rows.view()), Rows::Bits(background.view()), &groups);
        }
    }

    #[test]
    fn the_bits_of_a_raw_column_move_together() {
        let mut rng = generator(5);
        let age = (0..60).map(|_| below(&mut rng, 8) as f64).collect();
        let kinds = (0..60).map(|_| ["a", "b", "c", "d"][below(&mut rng, 4)]).collect::<Vec<_>>();
        let flag = (0..60).map(|_| below(&mut rng, 2) as f64).collect();
        let table = Table::new(vec![
            ("age".into(), Column::Number(Numbers::F64(age))),
            ("constant".into(), Column::Number(Numbers::F64(vec![1.0; 60]))),
            ("kind".into(), Column::Text(Texts::from_rows(kinds.into_iter().map(Some)))),
            ("flag".into(), Column::Number(Numbers::F64(flag))),
        ])
        .unwrap();
        let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
        let mut groups = vec![Vec::new(); encoder.width()];
        for (bit, meaning) in encoder.meanings().iter().enumerate() {
            groups[encoder.inputs()[meaning.column as usize].position].push(bit);
        }
        assert_eq!(groups[1], Vec::<usize>::new(), "a constant column has no bits");
        let grove = random_span_grove(3, encoder.bits(), 2, 12, 40);
        let model = Model::new(encoder, Circuit::Grove(grove), vec!["no".into(), "yes".into()]).unwrap();
        let first = table.select_rows(&(0..12).collect::<Vec<_>>()).unwrap();
        let background = table.select_rows(&(12..60).collect::<Vec<_>>()).unwrap();
        check(&model, Rows::Raw(first.view()), Rows::Raw(background.view()), &groups);
    }

    #[test]
    fn wide_trees_are_evaluated_without_a_table() {
        use crate::circuit::{Span, VoteTree};
        // 18 bits, through three spans.
        let spans = vec![
            Span::any((0..6).collect()).unwrap(),
            Span::all((6..12).collect()).unwrap(),
            Span::any((12..18).collect()).unwrap(),
        ];
        let tree =
            VoteTree::new(vec![3], Target::One(0), vec![18, 19, 20], vec![], vec![-7, 3, 2, 11, -5, 1, 0, 4])
                .unwrap();
        let grove = Grove::with_spans(18, spans, 2, vec![2], 0.1, vec![tree]).unwrap();
        let model = Model::new(Encoder::identity(18), Circuit::Grove(grove), vec!["no".into(), "yes".into()])
            .unwrap();
        // Rows that differ in twelve bits at the most, so that brute force ends.
        let mut rng = generator(8);
        let mut row =
            |from: usize| (0..18).map(|bit| bit >= from && below(&mut rng, 2) == 1).collect::<Vec<bool>>();
        let rows: Vec<bool> = (0..4).flat_map(|_| row(8)).collect();
        let background: Vec<bool> = (0..3).flat_map(|_| row(8)).collect();
        let rows = BitMatrix::from_bools(18, &rows).unwrap();
        let background = BitMatrix::from_bools(18, &background).unwrap();
        let found = contributions(&model, Rows::Bits(rows.view()), Rows::Bits(background.view()), 1).unwrap();
        let Circuit::Grove(grove) = model.circuit() else { panic!("a grove was made") };
        let groups: Vec<Vec<usize>> = (8..18).map(|bit| vec![bit]).collect();
        let of = |bits: &BitMatrix, row: usize| (0..18).map(|bit| bits.get(row, bit)).collect::<Vec<bool>>();
        let others: Vec<Vec<bool>> = (0..3).map(|row| of(&background, row)).collect();
        let all = (1..=10).product::<i128>() * 3;
        for index in 0..4 {
            let expected = brute_force(grove, &groups, &of(&rows, index), &others);
            for (value, expected) in found.numerators(index, 0)[8..].iter().zip(&expected[0]) {
                assert_eq!(value * all, expected * found.denominator());
            }
        }
    }

    #[test]
    fn trees_and_empty_backgrounds_are_refused() {
        use crate::circuit::Tree;
        let tree = Tree::new(2, 1, 2, vec![0, 1], vec![0b1000]).unwrap();
        let names = vec!["no".to_owned(), "yes".to_owned()];
        let model = Model::new(Encoder::identity(2), Circuit::Tree(tree), names.clone()).unwrap();
        let rows = BitMatrix::from_bools(2, &[true, true]).unwrap();
        assert!(contributions(&model, Rows::Bits(rows.view()), Rows::Bits(rows.view()), 1).is_err());
        let grove = random_span_grove(1, 2, 2, 3, 5);
        let model = Model::new(Encoder::identity(2), Circuit::Grove(grove), names).unwrap();
        let none = BitMatrix::zeros(0, 2).unwrap();
        assert!(contributions(&model, Rows::Bits(rows.view()), Rows::Bits(none.view()), 1).is_err());
        let wide = BitMatrix::from_bools(3, &[true, true, true]).unwrap();
        assert!(contributions(&model, Rows::Bits(wide.view()), Rows::Bits(rows.view()), 1).is_err());
    }
}
