//! Which zone a file is, without reading all of it.

use super::Opening;
use super::streaming::parse;
use crate::Name;
use crate::error::ZoneError;
use crate::packed::name_of;
use crate::read::Carry;
use domain::base::iana::Rtype;

/// The apex of the zone file of `opening`: the origin that was given, or the owner of the first SOA record, up to which the
/// file is read.
///
/// # Errors
/// What is wrong with the text so far, and [`ZoneError::NoSoa`].
pub fn find_apex(opening: &Opening<'_>) -> Result<Name, ZoneError> {
    if let Some(origin) = &opening.origin {
        return Ok(origin.clone());
    }
    let mut source = opening.source()?;
    let mut carry = Carry::default();
    while let Some(block) = source.next_block()? {
        opening.check_cancel()?;
        let mut parsed = parse(&block, carry.owner(block.nesting))?;
        carry.take(block.nesting, &mut parsed);
        let mut records = parsed.records.iter();
        if let Some(soa) = records.find(|record| record.rtype == Rtype::SOA) {
            return Ok(name_of(bytes::Bytes::copy_from_slice(soa.owner)));
        }
    }
    Err(ZoneError::NoSoa {
        file: opening.path.to_path_buf(),
        origin: None,
        hint: "add one, or check that this is the whole zone file".into(),
    })
}
