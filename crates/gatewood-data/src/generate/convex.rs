//! CONVEX as its authors describe it: is the white region of a 28 by 28 image convex?

use super::{Maker, RowRandom};

/// The image's side.
pub(crate) const SIDE: usize = 28;

/// An image: a word a line, its bits the pixels from the left.
type Lines = [u32; SIDE];

const FULL: u32 = (1 << SIDE) - 1;

/// Geometric parameter of the half-planes of a convex region, and of each region of a union.
///
/// The authors give 0.195 and 0.07, tuned so that both classes have the same mean number of on pixels, but not how a
/// half-plane is drawn to the last detail. These do the same for the half-planes drawn here: 0.385 of the pixels are on in both
/// classes, as in the authors' files.
const CONVEX_PARAMETER: f64 = 0.51;
const UNION_PARAMETER: f64 = 0.139;

/// Images whose on pixels are a convex region (class 1) or not (class 0), made as the authors of CONVEX describe.
///
/// A convex region is the intersection of half-planes, each through a uniformly random point of the image and
/// uniformly turned, their number geometric; a half-plane that would leave fewer than 20 pixels is left out. The other
/// class is the union of 2 to 4 such regions of at least 10 pixels each, drawn again while it happens to be convex.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConvexMade;

impl Maker for ConvexMade {
    fn name(&self) -> &'static str {
        "convex-made"
    }

    fn columns(&self) -> usize {
        SIDE * SIDE
    }

    fn row(&self, class: usize, random: &mut RowRandom, bytes: &mut [u8]) {
        let lines = if class == 1 { region(random, CONVEX_PARAMETER, 20) } else { union(random) };
        let mut bit = 0;
        bytes.fill(0);
        for line in lines {
            for x in 0..SIDE {
                bytes[bit / 8] |= ((line >> x & 1) as u8) << (bit % 8);
                bit += 1;
            }
        }
    }
}

/// An intersection of half-planes with at least `fewest` pixels.
fn region(random: &mut RowRandom, parameter: f64, fewest: u32) -> Lines {
    let mut lines = [FULL; SIDE];
    for _ in 0..random.geometric(parameter) {
        let (x, y) = (random.unit() * SIDE as f64, random.unit() * SIDE as f64);
        let (sine, cosine) = libm::sincos(2.0 * std::f64::consts::PI * random.unit());
        let mut cut = lines;
        for (row, line) in cut.iter_mut().enumerate().filter(|(_, line)| **line != 0) {
            let rest = (row as f64 + 0.5 - y) * sine;
            let mut keep = 0;
            for column in 0..SIDE {
                let side = (column as f64 + 0.5 - x) * cosine + rest;
                keep |= u32::from(side >= 0.0) << column;
            }
            *line &= keep;
        }
        if count(&cut) >= fewest {
            lines = cut;
        }
    }
    lines
}

/// A union of 2 to 4 regions that is not convex.
fn union(random: &mut RowRandom) -> Lines {
    loop {
        let mut lines = [0; SIDE];
        for _ in 0..2 + random.below(3) {
            let region = region(random, UNION_PARAMETER, 10);
            lines.iter_mut().zip(region).for_each(|(line, more)| *line |= more);
        }
        if !is_convex(&lines) {
            return lines;
        }
    }
}

fn count(lines: &Lines) -> u32 {
    lines.iter().map(|line| line.count_ones()).sum()
}

/// Whether every pixel whose centre lies in the convex hull of the on pixels' centres is on.
pub(crate) fn is_convex(lines: &Lines) -> bool {
    // The hull of the two ends of every line is the hull of all pixels; its right side is the left one of the mirror image.
    let ends = |end: fn(u32) -> i32| -> Vec<(i32, i32)> {
        (0..).zip(lines).filter(|(_, line)| **line != 0).map(|(y, &line)| (end(line), y)).collect()
    };
    let left = left_side(&ends(|line| line.trailing_zeros() as i32));
    let right = left_side(&ends(|line| line.leading_zeros() as i32 - 31));
    left.iter().zip(&right).zip(lines).all(|((&left, &right), &line)| {
        let inside = if left <= -right { FULL >> (SIDE as i32 - 1 + right) & FULL << left } else { 0 };
        line & inside == inside
    })
}

/// For each line, the first whole x at or right of the left side of the hull of points of rising y; a large x on lines
/// the hull does not reach.
fn left_side(points: &[(i32, i32)]) -> [i32; SIDE] {
    let mut hull: Vec<(i32, i32)> = Vec::with_capacity(points.len());
    for &(x, y) in points {
        while let [.., (ax, ay), (bx, by)] = hull[..] {
            if (bx - ax) * (y - ay) < (x - ax) * (by - ay) {
                break;
            }
            hull.pop();
        }
        hull.push((x, y));
    }
    let mut first = [SIDE as i32; SIDE];
    for &(x, y) in &hull {
        first[y as usize] = x;
    }
    for edge in hull.windows(2) {
        let ((ax, ay), (bx, by)) = (edge[0], edge[1]);
        for y in ay..by {
            // Division rounds down, so the quotient of the negated run is the one rounded up.
            first[y as usize] = ax - ((ax - bx) * (y - ay)).div_euclid(by - ay);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, a pixel at a time: a centre is in the hull when no line through it has all on pixels on one side.
    fn is_convex_slowly(lines: &Lines) -> bool {
        let on: Vec<(i32, i32)> = (0..SIDE as i32)
            .flat_map(|y| (0..SIDE as i32).map(move |x| (x, y)))
            .filter(|&(x, y)| lines[y as usize] >> x & 1 != 0)
            .collect();
        (0..SIDE as i32).flat_map(|y| (0..SIDE as i32).map(move |x| (x, y))).all(|(x, y)| {
            if lines[y as usize] >> x & 1 != 0 {
                return true;
            }
            // Outside exactly when the directions to all on pixels fit in an open half-plane, or touch both its ends
            // on one side only; then some on pixel has all others on its left or straight behind it.
            on.iter().any(|&(px, py)| {
                on.iter().all(|&(qx, qy)| {
                    let cross = (px - x) * (qy - y) - (py - y) * (qx - x);
                    let along = (px - x) * (qx - x) + (py - y) * (qy - y);
                    cross > 0 || cross == 0 && along > 0
                })
            })
        })
    }

    #[test]
    fn the_test_of_convexity_is_the_definition() {
        let mut seen = [0, 0];
        for row in 0..150 {
            let mut random = RowRandom::new("hull", 5, false, row);
            let mut lines = if row % 2 == 0 { region(&mut random, CONVEX_PARAMETER, 20) } else { [0; SIDE] };
            if row % 2 == 1 {
                for _ in 0..2 {
                    let more = region(&mut random, 0.3, 10);
                    lines.iter_mut().zip(more).for_each(|(line, more)| *line |= more);
                }
            }
            let convex = is_convex(&lines);
            assert_eq!(convex, is_convex_slowly(&lines), "row {row}: {lines:x?}");
            seen[usize::from(convex)] += 1;
            assert!(convex || row % 2 == 1);
        }
        assert!(seen[0] > 20 && seen[1] > 75, "{seen:?}");
    }
}
