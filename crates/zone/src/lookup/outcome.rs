//! What a look-up can end in.

use super::{NodeId, RrsetId};

/// How the name that answers was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// It is the name asked for.
    Exact,
    /// It is the source of synthesis, a wildcard (RFC 4592 section 3.3.1).
    Wildcard {
        /// The zone's name before the one asked for, in canonical order.
        predecessor: NodeId,
    },
}

/// What a zone has to say to a name and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The name is outside the zone.
    NotAuthoritative,
    /// The RRset asked for.
    Answer {
        /// The name that owns it.
        node: NodeId,
        /// Whether that is the name asked for or a wildcard.
        via: Via,
        /// The RRset.
        rrset: RrsetId,
    },
    /// All records of a name: QTYPE ANY.
    Any {
        /// The name that owns them.
        node: NodeId,
        /// Whether that is the name asked for or a wildcard.
        via: Via,
    },
    /// The name is an alias.
    Cname {
        /// The name that owns it.
        node: NodeId,
        /// Whether that is the name asked for or a wildcard.
        via: Via,
        /// The CNAME RRset.
        rrset: RrsetId,
    },
    /// An ancestor has a DNAME (RFC 6672).
    Dname {
        /// The owner of the DNAME.
        node: NodeId,
        /// The DNAME RRset.
        rrset: RrsetId,
    },
    /// The name exists, also as empty non-terminal, or a wildcard matches it, but the type does not exist.
    NoData {
        /// The name.
        node: NodeId,
        /// Whether that is the name asked for or a wildcard.
        via: Via,
    },
    /// The name does not exist.
    NxDomain {
        /// The nearest ancestor that exists.
        closest_encloser: NodeId,
        /// The zone's name before the one asked for, in canonical order.
        predecessor: NodeId,
    },
    /// The name belongs to a child zone.
    Referral {
        /// The zone cut.
        cut: NodeId,
        /// The NS RRset at the cut.
        ns: RrsetId,
        /// The DS RRset at the cut, if the delegation is signed.
        ds: Option<RrsetId>,
    },
}
