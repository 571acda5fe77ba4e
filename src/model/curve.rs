//! A measured curve, read between its points in log space and never beyond sense outside of them.
#![forbid(unsafe_code)]

/// Points (bytes, microseconds), sizes ascending and positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// A curve through `points`; `None` unless there is a point, all numbers are finite and positive, and sizes ascend.
    pub fn new(points: &[(f64, f64)]) -> Option<Self> {
        let sound =
            |(bytes, time): &(f64, f64)| bytes.is_finite() && time.is_finite() && *bytes > 0.0 && *time > 0.0;
        let ascending = points.windows(2).all(|pair| matches!(pair, [(a, _), (b, _)] if a < b));
        (!points.is_empty() && points.iter().all(sound) && ascending).then(|| Self(points.to_vec()))
    }

    /// Microseconds for `bytes`. Below the first point the first time; beyond the last the last rate.
    ///
    /// Between two points the logarithms are interpolated, read off the numbers' bits: exponent and mantissa of a positive
    /// float, taken as one integer, are its logarithm drawn straight between the powers of two. Exact at the
    /// points, monotone between them, within a few percent elsewhere, and nothing of libm.
    pub fn at(&self, bytes: f64) -> f64 {
        let next = self.0.partition_point(|(size, _)| *size <= bytes);
        match (next.checked_sub(1).and_then(|i| self.0.get(i)), self.0.get(next)) {
            (None, Some((_, time))) => *time,
            (Some((size, time)), None) => time * (bytes / size),
            (Some((s0, t0)), Some((s1, t1))) => {
                let share = (log(bytes) - log(*s0)) / (log(*s1) - log(*s0));
                exp(log(*t0) + share * (log(*t1) - log(*t0)))
            }
            // `new` admits no empty curve.
            (None, None) => 0.0,
        }
    }
}

/// The bits of a positive float as a number: its binary logarithm but for scale, offset and the curve of the mantissa.
#[allow(clippy::cast_precision_loss)] // the lowest bits of a mantissa
fn log(x: f64) -> f64 {
    x.to_bits() as f64
}

/// The inverse of [`log`].
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between two positive floats' bits
fn exp(x: f64) -> f64 {
    f64::from_bits(x as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_met_and_between_them_is_log_linear() {
        let c = Curve::new(&[(1024.0, 1.0), (65536.0, 4.0)]).expect("sound");
        assert!((c.at(1024.0) - 1.0).abs() < 1e-12);
        assert!((c.at(65536.0) - 4.0).abs() < 1e-12);
        assert!((c.at(8192.0) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn outside_it_neither_vanishes_nor_explodes() {
        let c = Curve::new(&[(1024.0, 1.0), (65536.0, 4.0)]).expect("sound");
        assert!((c.at(1.0) - 1.0).abs() < 1e-12);
        assert!((c.at(131_072.0) - 8.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        for bad in [&[][..], &[(0.0, 1.0)], &[(1.0, f64::NAN)], &[(2.0, 1.0), (1.0, 1.0)], &[(1.0, -1.0)]] {
            assert_eq!(Curve::new(bad), None, "{bad:?}");
        }
    }
}
