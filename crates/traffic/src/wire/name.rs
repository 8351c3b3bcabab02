//! Names in wire format (RFC 1035 sections 3.1 and 4.1.4).

use super::{HEADER_LEN, Malformed};

/// The most octets of a name, length octets and the root label included.
pub const MAX_NAME_LEN: usize = 255;

/// The two upper bits of a label's first octet: both set, it is a compression pointer.
const POINTER: u8 = 0xC0;

/// The length of the first question's name, with the root label; `None` unless it is whole, uncompressed and no longer than
/// names are.
#[inline]
pub fn question_name_len(message: &[u8]) -> Option<usize> {
    whole_name_len(message, HEADER_LEN)
}

/// The length of the name at `start`, with the root label; `None` unless it is whole, uncompressed and no longer than names are.
#[inline]
pub fn whole_name_len(message: &[u8], start: usize) -> Option<usize> {
    let octets = message.get(start..)?;
    let mut end = 0;
    loop {
        let len = *octets.get(end)?;
        end += 1 + usize::from(len);
        if len == 0 {
            return (end <= MAX_NAME_LEN).then_some(end);
        }
        if len & POINTER != 0 || end > MAX_NAME_LEN {
            return None;
        }
    }
}

/// Where in `message` the name that begins at `start` ends: after its root label or its first pointer.
#[inline]
pub fn skip_name(message: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let len = *message.get(at)?;
        match len & POINTER {
            0 if len == 0 => return Some(at + 1),
            0 => at += 1 + usize::from(len),
            POINTER => return (at + 2 <= message.len()).then_some(at + 2),
            _ => return None,
        }
        if at - start > MAX_NAME_LEN {
            return None;
        }
    }
}

/// Room for one uncompressed name.
#[derive(Clone, Copy, Debug)]
pub struct NameBuffer {
    octets: [u8; MAX_NAME_LEN],
    len: usize,
}

impl Default for NameBuffer {
    fn default() -> Self {
        Self {
            octets: [0; MAX_NAME_LEN],
            len: 0,
        }
    }
}

impl NameBuffer {
    /// The name in wire format with its root label; empty if reading it failed.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

/// Reads the name that begins at `start` in `message` into `name`, following compression pointers; gives where in the message
/// it ends.
///
/// Pointers must point to before the labels that they follow, so that reading always ends.
///
/// # Errors
/// [`Malformed::Record`] for a name that is not whole, too long, or whose pointers do not go back.
pub fn read_name(message: &[u8], start: usize, name: &mut NameBuffer) -> Result<usize, Malformed> {
    name.len = 0;
    let mut len = 0;
    let (mut at, mut run_start, mut end) = (start, start, None);
    loop {
        let first = *message.get(at).ok_or(Malformed::Record)?;
        match first & POINTER {
            0 => {
                let label_end = at + 1 + usize::from(first);
                let label = message.get(at..label_end).ok_or(Malformed::Record)?;
                name.octets
                    .get_mut(len..len + label.len())
                    .ok_or(Malformed::Record)?
                    .copy_from_slice(label);
                len += label.len();
                if first == 0 {
                    name.len = len;
                    return Ok(end.unwrap_or(label_end));
                }
                at = label_end;
            }
            POINTER => {
                let low = *message.get(at + 1).ok_or(Malformed::Record)?;
                let target = usize::from(u16::from_be_bytes([first & !POINTER, low]));
                if target >= run_start {
                    return Err(Malformed::Record);
                }
                end = end.or(Some(at + 2));
                (at, run_start) = (target, target);
            }
            _ => return Err(Malformed::Record),
        }
    }
}

/// The name in presentation format (RFC 1035 section 5.1), absolute: `www.example.`, or `.` for the root. `name` may have its root
/// label or not.
pub fn shown_name(name: &[u8]) -> String {
    let mut text = String::new();
    for label in labels(name) {
        for octet in label {
            match octet {
                b'.' | b'\\' | b'"' | b'(' | b')' | b';' | b'@' | b'$' => {
                    text.push('\\');
                    text.push(char::from(*octet));
                }
                0x21..=0x7E => text.push(char::from(*octet)),
                _ => text.push_str(&format!("\\{octet:03}")),
            }
        }
        text.push('.');
    }
    match text.is_empty() {
        true => ".".to_owned(),
        false => text,
    }
}

/// The labels of an uncompressed name without the root label, from the first.
pub fn labels(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let (&len, after) = rest.split_first()?;
        let (label, after) = after.split_at_checked(len.into())?;
        rest = after;
        (len != 0).then_some(label)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(names: &[&[u8]]) -> Vec<u8> {
        let mut message = vec![0; HEADER_LEN];
        names
            .iter()
            .for_each(|name| message.extend_from_slice(name));
        message
    }

    #[test]
    fn compressed_names_are_followed() {
        let message = message(&[b"\x07example\x00", b"\x03www\xc0\x0c", b"\x01a\xc0\x15"]);
        let mut name = NameBuffer::default();
        assert_eq!(read_name(&message, 21, &mut name), Ok(27));
        assert_eq!(name.as_slice(), b"\x03www\x07example\x00");
        assert_eq!(read_name(&message, 27, &mut name), Ok(31));
        assert_eq!(name.as_slice(), b"\x01a\x03www\x07example\x00");
        assert_eq!(skip_name(&message, 21), Some(27));
        assert_eq!(question_name_len(&message), Some(9));
    }

    #[test]
    fn pointers_that_do_not_go_back_are_refused() {
        for bad in [
            &b"\xc0\x0c"[..],
            b"\x01a\xc0\x0c",
            b"\xc0\x0e\x00",
            b"\x40a\x00",
            b"\x80\x00",
            b"\x05ab",
            b"\xc0",
            b"",
        ] {
            let message = message(&[bad]);
            let mut name = NameBuffer::default();
            assert_eq!(
                read_name(&message, HEADER_LEN, &mut name),
                Err(Malformed::Record),
                "{bad:?}"
            );
            assert_eq!(question_name_len(&message), None);
        }
    }

    #[test]
    fn names_are_as_long_as_255_octets() {
        let label = [&[63][..], &[b'a'; 63]].concat();
        let longest = [&label[..], &label, &label, &[61], &[b'b'; 61], &[0]].concat();
        let longer = [&label[..], &label, &label, &[62], &[b'b'; 62], &[0]].concat();
        let mut name = NameBuffer::default();
        assert_eq!(question_name_len(&message(&[&longest])), Some(255));
        assert_eq!(
            read_name(&message(&[&longest]), HEADER_LEN, &mut name),
            Ok(HEADER_LEN + 255)
        );
        assert_eq!(question_name_len(&message(&[&longer])), None);
        assert!(read_name(&message(&[&longer]), HEADER_LEN, &mut name).is_err());
    }

    #[test]
    fn names_are_shown_as_in_zone_files() {
        assert_eq!(shown_name(b"\x03www\x07example\x00"), "www.example.");
        assert_eq!(shown_name(b"\x03a.b\x02\x00\xff"), "a\\.b.\\000\\255.");
        assert_eq!(shown_name(b"\x00"), ".");
        assert_eq!(shown_name(b""), ".");
    }

    proptest! {
        #[test]
        fn no_octets_make_reading_panic_or_run_on(octets in prop::collection::vec(prop_oneof![0..4_u8, 0xC0..0xC2_u8, any::<u8>()], 0..300), start in 0..320_usize) {
            let mut name = NameBuffer::default();
            let read = read_name(&octets, start, &mut name);
            prop_assert!(name.as_slice().len() <= MAX_NAME_LEN);
            if let Ok(end) = read {
                prop_assert_eq!(skip_name(&octets, start), Some(end));
                prop_assert_eq!(name.as_slice().last(), Some(&0));
            }
        }
    }
}
