//! Protocol Buffers, as far as dnstap needs them (<https://protobuf.dev/programming-guides/encoding/>).

/// The most octets of a number of 64 bits.
const MAX_NUMBER_LEN: usize = 10;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Of any of the forms that numbers have.
    Number(u64),
    /// Octets: a string, or a message inside.
    Octets(&'a [u8]),
}

/// The fields of a message with their numbers; a field that is not whole is `None` and the last one.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn of(octets: &'a [u8]) -> Self {
        Self { rest: octets }
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..MAX_NUMBER_LEN {
            let (&octet, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(octet & 0x7F).checked_shl(7 * place as u32)?;
            if octet & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => {
                let (octets, rest) = self.rest.split_first_chunk::<8>()?;
                self.rest = rest;
                Value::Number(u64::from_le_bytes(*octets))
            }
            2 => {
                let len = self.number()?.try_into().ok()?;
                let (octets, rest) = self.rest.split_at_checked(len)?;
                self.rest = rest;
                Value::Octets(octets)
            }
            5 => {
                let (octets, rest) = self.rest.split_first_chunk::<4>()?;
                self.rest = rest;
                Value::Number(u32::from_le_bytes(*octets).into())
            }
            // Groups are in no message of dnstap.
            _ => return None,
        };
        Some((tag >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_forms_of_fields_are_read() {
        // Field 1 the number 300, field 2 eight octets, field 3 a string, field 15 four octets.
        let octets = [
            8, 0xAC, 2, 0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0x1A, 2, b'h', b'i', 0x7D, 2, 0, 0, 0,
        ];
        let fields: Option<Vec<_>> = Fields::of(&octets).collect();
        let wanted = [
            (1, Value::Number(300)),
            (2, Value::Number(1)),
            (3, Value::Octets(b"hi")),
            (15, Value::Number(2)),
        ];
        assert_eq!(fields.unwrap(), wanted);
        for cut in [2, 5, 14, 18] {
            assert_eq!(Fields::of(&octets[..cut]).last(), Some(None));
        }
        assert_eq!(Fields::of(&[0xFF; 20]).collect::<Vec<_>>(), [None]);
    }

    proptest! {
        #[test]
        fn any_octets_end(octets: Vec<u8>) {
            prop_assert!(Fields::of(&octets).count() <= octets.len());
        }
    }
}
