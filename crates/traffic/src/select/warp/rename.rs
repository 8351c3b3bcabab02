//! Names that were not asked before.

use crate::wire::{HEADER_LEN, MAX_NAME_LEN, View};

/// Appends the query `octets`, the name of its question with a label in front of it that says `number`: no two numbers give
/// a name the same, and the zone that it is in stays the same.
///
/// `false`, and nothing appended, if the name becomes too long, or other names could point at it: those of records beside
/// one with the root's name, as an OPT record has.
pub fn renamed(octets: &[u8], number: u32, target: &mut Vec<u8>) -> bool {
    let Some(name_len) = renameable(octets) else {
        return false;
    };
    let label = format!("loop{number}");
    if name_len + label.len() + 1 > MAX_NAME_LEN {
        return false;
    }
    target.extend_from_slice(&octets[..HEADER_LEN]);
    target.push(label.len() as u8);
    target.extend_from_slice(label.as_bytes());
    target.extend_from_slice(&octets[HEADER_LEN..]);
    true
}

/// The length of the name of a query whose name nothing points at.
fn renameable(octets: &[u8]) -> Option<usize> {
    let view = View::parse(octets).ok()?;
    let question = view.question.filter(|_| view.header.questions == 1)?;
    for record in view.records() {
        let record = record.ok()?;
        if record.fixed != record.owner + 1 {
            return None;
        }
    }
    Some(question.name.len())
}

#[cfg(test)]
mod tests {
    use super::renamed;

    fn query(name: &[u8], rest: &[u8], additional: u8) -> Vec<u8> {
        let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, additional];
        query.extend_from_slice(name);
        query.extend_from_slice(b"\0\x01\0\x01");
        query.extend_from_slice(rest);
        query
    }

    #[test]
    fn names_get_a_label_and_all_else_stays() {
        let opt = b"\0\0\x29\x04\xD0\0\0\0\0\0\0";
        let mut target = Vec::new();
        assert!(renamed(&query(b"\x03www\0", opt, 1), 12, &mut target));
        assert_eq!(target, query(b"\x06loop12\x03www\0", opt, 1));
        target.clear();
        assert!(renamed(&query(b"\0", b"", 0), 2, &mut target));
        assert_eq!(target, query(b"\x05loop2\0", b"", 0));
    }

    #[test]
    fn what_cannot_be_renamed_is_left() {
        let longest = [&[63; 64][..], &[63; 64], &[63; 64], &[61; 62], &[0]].concat();
        let pointing = b"\xC0\x0C\0\x01\0\x01\0\0\0\0\0\0";
        let mut two = query(b"\0", b"", 0);
        two[5] = 2;
        for octets in [
            query(&longest, b"", 0),
            query(b"\x03www\0", pointing, 1),
            two,
            b"short".to_vec(),
        ] {
            let mut target = Vec::new();
            assert!(!renamed(&octets, 2, &mut target) && target.is_empty());
        }
    }
}
