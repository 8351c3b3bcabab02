//! Record types with shares.

use domain::base::iana::Rtype;
use rand::{Rng, RngExt};
use std::str::FromStr;

/// Types with shares, to draw from.
#[derive(Debug)]
pub struct TypeShares {
    /// Each type with the sum of the shares up to it.
    types: Vec<(Rtype, u64)>,
    total: u64,
}

impl TypeShares {
    /// Reads `A=70,AAAA=30`; a type without a share has 1.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut shares = Self {
            types: Vec::new(),
            total: 0,
        };
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let wrong = || format!("'{part}' is not a type with a share such as A=70");
            let (rtype, share) = part.trim().split_once('=').unwrap_or((part.trim(), "1"));
            let rtype = Rtype::from_str(rtype).map_err(|_| wrong())?;
            let share: u32 = share.parse().map_err(|_| wrong())?;
            shares.total += u64::from(share);
            shares.types.push((rtype, shares.total));
        }
        match (&shares.types[..], shares.total) {
            ([], _) => Err("there is no type; give some such as A=70,AAAA=30".into()),
            (_, 0) => Err("all shares are 0".into()),
            _ => Ok(shares),
        }
    }

    /// Draws a type.
    pub fn draw(&self, rng: &mut impl Rng) -> Rtype {
        if let [(only, _)] = self.types[..] {
            return only;
        }
        let place = rng.random_range(0..self.total);
        let index = self.types.partition_point(|&(_, sum)| sum <= place);
        self.types[index].0
    }
}
