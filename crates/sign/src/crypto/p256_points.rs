//! Points of the curve P-256 in bulk: tables of multiples, and sums of many points at once.
//!
//! The field's arithmetic is that of the crate `p256`. Points are affine, and additions are done by the thousand, so that one
//! inversion serves them all (Montgomery's trick): an addition then costs six multiplications instead of eleven and more.
//! None of this takes constant time: it is for public data only.

use super::windows::signed_digits;
use p256::elliptic_curve::hazmat::FieldArithmetic;
use p256::elliptic_curve::ops::Double;
use p256::elliptic_curve::point::AffineCoordinates;
use p256::{AffinePoint, NistP256, ProjectivePoint};

/// An integer modulo p.
pub(super) type Field = <NistP256 as FieldArithmetic>::FieldElement;

/// Bits of a scalar that one look-up covers: more make tables larger and additions fewer.
const WINDOW_BITS: usize = 12;
/// Look-ups for a scalar of 256 bits and the carry of signed digits.
const WINDOWS: usize = 256 / WINDOW_BITS + 1;
/// Entries of a window: with signed digits, half of what the bits could say.
const WINDOW_ENTRIES: usize = 1 << (WINDOW_BITS - 1);

/// A point of the curve other than the one at infinity, in one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Point {
    pub x: Field,
    pub y: Field,
}

impl Point {
    /// `None` for the point at infinity.
    fn new(point: &ProjectivePoint) -> Option<Self> {
        let affine = point.to_affine();
        let coordinate = |octets: &_| Option::from(Field::from_bytes(octets));
        match bool::from(affine.is_identity()) {
            true => None,
            false => Some(Self {
                x: coordinate(&affine.x())?,
                y: coordinate(&affine.y())?,
            }),
        }
    }

    fn negative(self) -> Self {
        Self {
            x: self.x,
            y: self.y.neg(),
        }
    }

    /// The third point of the line with this `slope` through `self` and a point with `other_x`, mirrored: their sum.
    fn along(self, slope: Field, other_x: &Field) -> Self {
        let x = slope.square().sub(&self.x).sub(other_x);
        let y = slope.multiply(&self.x.sub(&x)).sub(&self.y);
        Self { x, y }
    }
}

/// Multiples of one point: for every window, 1 to [`WINDOW_ENTRIES`] times the point times the window's weight.
pub(super) struct Table(Box<[Point]>);

impl Table {
    /// `None` for the point at infinity. Takes some 10 ms, and 2.9 MB.
    pub fn new(point: &AffinePoint) -> Option<Self> {
        let mut points = Vec::with_capacity(WINDOWS * WINDOW_ENTRIES);
        let mut base = ProjectivePoint::from(*point);
        let mut pairs = Pairs::default();
        for _ in 0..WINDOWS {
            let start = points.len();
            points.push(Point::new(&base)?);
            for _ in 0..WINDOW_BITS {
                base = Double::double(&base);
            }
            while points.len() - start < WINDOW_ENTRIES {
                pairs.double_row(&mut points, start)?;
            }
        }
        Some(Self(points.into_boxed_slice()))
    }

    /// Appends the points whose sum is the table's point times the little-endian `scalar`.
    pub fn push_multiple(&self, scalar: &[u8; 32], target: &mut Vec<Point>) {
        let digits = signed_digits::<WINDOW_BITS>(scalar);
        for (digit, row) in digits.zip(self.0.chunks_exact(WINDOW_ENTRIES)) {
            let entry = digit.unsigned_abs() as usize;
            match digit.signum() {
                0 => {}
                1 => target.push(row[entry - 1]),
                _ => target.push(row[entry - 1].negative()),
            }
        }
    }
}

/// Additions that share one inversion.
#[derive(Default)]
struct Pairs {
    /// The denominator of every slope, and the product of those before it in the list.
    denominators: Vec<(Field, Field)>,
}

impl Pairs {
    /// Takes the denominators of all slopes, the last addition's first.
    fn invert(&mut self, denominators: impl Iterator<Item = Field>) -> Option<Field> {
        self.denominators.clear();
        let mut product = Field::ONE;
        for denominator in denominators {
            self.denominators.push((denominator, product));
            product = product.multiply(&denominator);
        }
        product.invert_vartime().into_option()
    }

    /// The inverse of the next denominator, the first addition's first; `inverse` is that of all that are left.
    fn next(&mut self, inverse: &mut Field) -> Option<Field> {
        let (denominator, others) = self.denominators.pop()?;
        let single = inverse.multiply(&others);
        *inverse = inverse.multiply(&denominator);
        Some(single)
    }

    /// Appends to the row from `start` on, which has the multiples from 1 to m of its first point, those up to 2m.
    fn double_row(&mut self, points: &mut Vec<Point>, start: usize) -> Option<()> {
        let end = points.len();
        let (&last, row) = points[start..].split_last()?;
        let doubled = std::iter::once(last.y.double());
        let sums = row.iter().rev().map(|point| last.x.sub(&point.x));
        let mut inverse = self.invert(doubled.chain(sums))?;
        for index in start..end - 1 {
            let point = points[index];
            let slope = last.y.sub(&point.y).multiply(&self.next(&mut inverse)?);
            points.push(last.along(slope, &point.x));
        }
        // The tangent's slope is (3 x^2 - 3) / 2 y.
        let less = last.x.square().sub(&Field::ONE);
        let slope = less.double().add(&less).multiply(&self.next(&mut inverse)?);
        points.push(last.along(slope, &last.x));
        Some(())
    }
}

/// Sums of points.
#[derive(Default)]
pub(super) struct Sums {
    /// The points of all sums, one sum after the other, each in its own place.
    points: Vec<Point>,
    /// Where each sum's points start, and their number.
    terms: Vec<(usize, usize)>,
    pairs: Pairs,
}

impl Sums {
    pub fn clear(&mut self) {
        self.points.clear();
        self.terms.clear();
    }

    /// Adds one sum, of the points that `push` appends.
    pub fn push(&mut self, push: impl FnOnce(&mut Vec<Point>)) {
        let start = self.points.len();
        push(&mut self.points);
        self.terms.push((start, self.points.len() - start));
    }

    /// Works the sums out; `None` if the points of an addition have the same x somewhere, or a sum has no points.
    pub fn add(&mut self) -> Option<impl Iterator<Item = &Point>> {
        while self.terms.iter().any(|&(_, count)| count > 1) {
            self.halve()?;
        }
        let is_sum = |&(_, count): &(usize, usize)| count == 1;
        let sums = self.terms.iter().map(|&(start, _)| &self.points[start]);
        self.terms.iter().all(is_sum).then_some(sums)
    }

    /// Replaces each sum's points by the sums of its pairs.
    fn halve(&mut self) -> Option<()> {
        let Self {
            points,
            terms,
            pairs,
        } = self;
        let denominators = terms.iter().rev().flat_map(|&(start, count)| {
            let pairs = points[start..start + count].chunks_exact(2).rev();
            pairs.map(|pair| pair[1].x.sub(&pair[0].x))
        });
        let mut inverse = pairs.invert(denominators)?;
        for (start, count) in terms {
            for index in 0..*count / 2 {
                let (first, second) = (points[*start + 2 * index], points[*start + 2 * index + 1]);
                let slope = second.y.sub(&first.y);
                let slope = slope.multiply(&pairs.next(&mut inverse)?);
                points[*start + index] = first.along(slope, &second.x);
            }
            if *count % 2 == 1 {
                points[*start + *count / 2] = points[*start + *count - 1];
            }
            *count = count.div_ceil(2);
        }
        Some(())
    }
}
