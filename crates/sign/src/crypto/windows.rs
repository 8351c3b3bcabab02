//! Scalars as digits for tables of multiples.

/// The digits of the little-endian `scalar` to the base 2^BITS, from -2^(BITS - 1) + 1 to 2^(BITS - 1), lowest first: signed, so that
/// a table needs half the entries. There are `256 / BITS + 1`. Not in constant time.
pub(super) fn signed_digits<const BITS: usize>(scalar: &[u8; 32]) -> impl Iterator<Item = i32> {
    // A digit lies in three octets, whatever bit it starts at; at most 17 bits.
    const { assert!(BITS <= 17) };
    let mut octets = [0; 36];
    octets[..32].copy_from_slice(scalar);
    let mut carry = 0;
    (0..256 / BITS + 1).map(move |index| {
        let first = index * BITS;
        let (low, shift) = (first / 8, first % 8);
        let [a, b, c] = [octets[low], octets[low + 1], octets[low + 2]];
        let bits = i32::from_le_bytes([a, b, c, 0]) >> shift;
        let digit = (bits & ((1 << BITS) - 1)) + carry;
        carry = i32::from(digit > 1 << (BITS - 1));
        digit - (carry << BITS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum of the digits by their weights, little-endian and modulo 2^256.
    fn sum<const BITS: usize>(scalar: &[u8; 32]) -> [u8; 32] {
        let half = 1 << (BITS - 1);
        let mut sum = [0u8; 32];
        for (index, digit) in signed_digits::<BITS>(scalar).enumerate() {
            assert!((1 - half..=half).contains(&digit));
            for bit in 0..BITS {
                let place = index * BITS + bit;
                if digit.unsigned_abs() >> bit & 1 == 1 && place < 256 {
                    add_bit(&mut sum, place, digit < 0);
                }
            }
        }
        sum
    }

    fn add_bit(sum: &mut [u8; 32], place: usize, is_negative: bool) {
        let (mut octet, mut amount) = (place / 8, 1u8 << (place % 8));
        while octet < 32 && amount != 0 {
            let (next, overflowed) = match is_negative {
                true => sum[octet].overflowing_sub(amount),
                false => sum[octet].overflowing_add(amount),
            };
            sum[octet] = next;
            amount = u8::from(overflowed);
            octet += 1;
        }
    }

    proptest! {
        #[test]
        fn digits_add_up(scalar: [u8; 32]) {
            prop_assert_eq!(sum::<8>(&scalar), scalar);
            prop_assert_eq!(sum::<10>(&scalar), scalar);
            prop_assert_eq!(sum::<12>(&scalar), scalar);
        }
    }

    #[test]
    fn digits_add_up_at_the_ends() {
        for scalar in [[0; 32], [0xFF; 32], [0x80; 32], [0x7F; 32]] {
            assert_eq!(sum::<10>(&scalar), scalar);
            assert_eq!(sum::<12>(&scalar), scalar);
        }
    }
}
