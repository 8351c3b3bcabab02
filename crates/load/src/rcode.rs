//! Names of response codes (IANA registry "DNS RCODEs", RFC 6895 section 2.3).

use std::borrow::Cow;

/// Codes at and above this one are counted together.
pub const COUNTED: usize = 25;

/// The mnemonic of a response code; `RCODE12` for one without, `OTHER` for [`COUNTED`]` - 1` and above.
pub fn name(code: usize) -> Cow<'static, str> {
    Cow::Borrowed(match code {
        0 => "NOERROR",
        1 => "FORMERR",
        2 => "SERVFAIL",
        3 => "NXDOMAIN",
        4 => "NOTIMP",
        5 => "REFUSED",
        6 => "YXDOMAIN",
        7 => "YXRRSET",
        8 => "NXRRSET",
        9 => "NOTAUTH",
        10 => "NOTZONE",
        11 => "DSOTYPENI",
        16 => "BADVERS",
        17 => "BADKEY",
        18 => "BADTIME",
        19 => "BADMODE",
        20 => "BADNAME",
        21 => "BADALG",
        22 => "BADTRUNC",
        23 => "BADCOOKIE",
        12..=15 => return Cow::Owned(format!("RCODE{code}")),
        _ => "OTHER",
    })
}
