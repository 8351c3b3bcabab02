//! HPACK's Huffman code (RFC 7541 section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length are consecutive numbers in the order of their symbols, and follow on those
//! of the next shorter length. So the lengths alone define it.

/// Bits of each symbol's code; the last symbol is EOS.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const EOS: u16 = 256;
const LONGEST: usize = 30;

/// Codes up to this length are found by one look-up; they are those of nearly all octets in header fields.
const SHORT: usize = 8;

/// A symbol and the bits of its code; 0 bits for none.
type Decoded = (u16, u8);

struct Code {
    /// Symbols in the order of their codes.
    symbols: [u16; 257],
    /// By length: where in `symbols` the codes of that length begin.
    begins: [u16; LONGEST + 1],
    /// By length: the first code.
    first: [u32; LONGEST + 1],
    /// By length: what follows the last code, with zeros appended up to the longest length.
    end: [u32; LONGEST + 1],
    /// By the next bits: the symbol whose code they begin with, if it is short.
    short: [Decoded; 1 << SHORT],
}

static CODE: Code = build();

const fn build() -> Code {
    let mut code = Code {
        symbols: [0; 257],
        begins: [0; LONGEST + 1],
        first: [0; LONGEST + 1],
        end: [0; LONGEST + 1],
        short: [(0, 0); 1 << SHORT],
    };
    let (mut next, mut place, mut length) = (0u32, 0, 1);
    while length <= LONGEST {
        next <<= 1;
        code.first[length] = next;
        code.begins[length] = place as u16;
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                code.symbols[place] = symbol as u16;
                if length <= SHORT {
                    let shift = SHORT - length;
                    let mut low = 0;
                    while low < 1 << shift {
                        code.short[((next as usize) << shift) + low] =
                            (symbol as u16, length as u8);
                        low += 1;
                    }
                }
                place += 1;
                next += 1;
            }
            symbol += 1;
        }
        code.end[length] = next << (LONGEST - length);
        length += 1;
    }
    code
}

/// The symbol that the uppermost bits of `bits` begin with. Every sequence of 30 bits begins with one.
fn symbol(bits: u64) -> Decoded {
    let short = CODE.short[(bits >> (64 - SHORT)) as usize];
    if short.1 != 0 {
        return short;
    }
    let upper = (bits >> (64 - LONGEST)) as u32;
    let mut length = SHORT + 1;
    while upper >= CODE.end[length] {
        length += 1;
    }
    let past_first = (upper >> (LONGEST - length)) - CODE.first[length];
    let place = usize::from(CODE.begins[length]) + past_first as usize;
    (CODE.symbols[place], length as u8)
}

/// Appends what `encoded` stands for. `None` if it is no valid encoding: it has EOS, or does not end in less than eight
/// ones.
pub fn decode(encoded: &[u8], decoded: &mut Vec<u8>) -> Option<()> {
    let mut rest = encoded.iter();
    let (mut bits, mut count) = (0u64, 0u32);
    loop {
        while count <= 56
            && let Some(&octet) = rest.next()
        {
            bits |= u64::from(octet) << (56 - count);
            count += 8;
        }
        let (symbol, length) = symbol(bits);
        if u32::from(length) > count {
            break;
        }
        if symbol == EOS {
            return None;
        }
        decoded.push(symbol as u8);
        bits <<= length;
        count -= u32::from(length);
    }
    (count < 8 && bits.leading_ones() >= count).then_some(())
}

/// The encoding of `octets`, for tests.
#[cfg(test)]
pub fn encode(octets: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    let (mut bits, mut count) = (0u64, 0u32);
    for &octet in octets {
        let length = usize::from(LENGTHS[usize::from(octet)]);
        let begin = usize::from(CODE.begins[length]);
        let past_first = CODE.symbols[begin..]
            .iter()
            .position(|&symbol| symbol == u16::from(octet))
            .expect("every octet has a code");
        bits = bits << length | u64::from(CODE.first[length] + past_first as u32);
        count += length as u32;
        while count >= 8 {
            encoded.push((bits >> (count - 8)) as u8);
            count -= 8;
        }
    }
    if count > 0 {
        encoded.push((bits << (8 - count)) as u8 | (0xff >> count));
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(encoded: &[u8]) -> Option<Vec<u8>> {
        let mut octets = Vec::new();
        decode(encoded, &mut octets).map(|()| octets)
    }

    /// RFC 7541 appendices C.4 and C.6.
    #[test]
    fn decodes_the_examples_of_the_standard() {
        for (encoded, octets) in [
            (
                &[
                    0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff,
                ][..],
                &b"www.example.com"[..],
            ),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], b"no-cache"),
            (
                &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f],
                b"custom-key",
            ),
            (&[0x64, 0x02], b"302"),
            (
                &[
                    0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04,
                    0x0b, 0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff,
                ],
                b"Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ] {
            assert_eq!(decoded(encoded).as_deref(), Some(octets));
            assert_eq!(encode(octets), encoded);
        }
    }

    #[test]
    fn refuses_what_is_no_encoding() {
        assert_eq!(decoded(&[0xff; 4]), None, "EOS");
        assert_eq!(decoded(&[0x64, 0x02, 0xff]), None, "eight bits of padding");
        assert_eq!(decoded(&[0x25]), None, "padding that is not all ones");
        assert_eq!(decoded(&[]), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decoded(&encode(&octets)), Some(octets));
        }

        /// There is one encoding only.
        #[test]
        fn what_decodes_was_encoded_so(encoded in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Some(octets) = decoded(&encoded) {
                prop_assert_eq!(encode(&octets), encoded);
            }
        }
    }
}
