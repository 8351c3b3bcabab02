//! What can go wrong with keys and signing.

use crate::Algorithm;
use std::io;
use std::path::PathBuf;

/// Why a zone was not signed, or a key not made, read or written; every message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// No key was given.
    #[error(
        "no key for the zone {zone}; make one for it, or give the folder that has its key files"
    )]
    NoKeys {
        /// The zone.
        zone: String,
    },
    /// Every key has the REVOKE flag.
    #[error(
        "no key to sign the zone {zone} with: all that were given have the REVOKE flag, and sign the DNSKEY RRset only (RFC 5011 section 2.1); give a key without it as well"
    )]
    OnlyRevokedKeys {
        /// The zone.
        zone: String,
    },
    /// A key belongs to another zone.
    #[error(
        "the key with tag {tag} is for {owner}, not for the zone {zone}; leave it out, or check the zone's name"
    )]
    ForeignKey {
        /// The key's tag.
        tag: u16,
        /// The zone that the key is for.
        owner: String,
        /// The zone to be signed.
        zone: String,
    },
    /// The zone has a key that is not at hand, and new ones would replace it.
    #[error(
        "the zone {zone} has the DNSKEY with tag {tag} already, whose private key is not at hand; give its key files, or ask for new keys, which replace all that the zone has"
    )]
    OtherKeys {
        /// The zone.
        zone: String,
        /// The key's tag.
        tag: u16,
    },
    /// The zone would have a DNSKEY record of an algorithm without signatures of it.
    #[error(
        "the zone {zone} has the DNSKEY with tag {tag} of algorithm {algorithm}, but no key of this algorithm signs, so validators would miss its signatures (RFC 4035 section 2.2); give a key of it that signs (dnsrig settime changes when a key does: Inactive and Delete of the last one the same), or remove its DNSKEY record"
    )]
    AlgorithmUnsigned {
        /// The zone.
        zone: String,
        /// The key's tag.
        tag: u16,
        /// The algorithm's number.
        algorithm: u8,
    },
    /// A key-signing key that nothing can be signed with here would have to sign the DNSKEY RRset.
    #[error(
        "the DNSKEY RRset of {zone} needs a signature by the key-signing key with tag {tag}, whose private key is not at hand, and {why}; give its key files, or put a signature of this RRset by it into the zone; if the parent zone has no DS record of it, remove its DNSKEY record, or name the key that signs instead (-k)"
    )]
    OfflineKey {
        /// The zone.
        zone: String,
        /// The key's tag.
        tag: u16,
        /// Why none of the zone's signatures by it is kept.
        why: &'static str,
    },
    /// An RSA key size that is not supported.
    #[error("{bits} bits are not possible for {algorithm}; choose a size from 1024 to 4096")]
    KeySize {
        /// The algorithm.
        algorithm: Algorithm,
        /// The size asked for.
        bits: u32,
    },
    /// A size for an algorithm that has only one.
    #[error("{algorithm} keys always have {fixed} bits, not {bits}; leave the size out")]
    FixedKeySize {
        /// The algorithm.
        algorithm: Algorithm,
        /// The size that it has.
        fixed: u32,
        /// The size asked for.
        bits: u32,
    },
    /// An algorithm that cannot be used.
    #[error(
        "algorithm {name} is not supported; choose RSASHA256, RSASHA512, ECDSAP256SHA256, ECDSAP384SHA384 or ED25519"
    )]
    UnsupportedAlgorithm {
        /// As it was given.
        name: String,
    },
    /// An algorithm with SHA-1, without the permission to use it.
    #[error(
        "{algorithm} uses SHA-1, with which nothing is to be signed (RFC 9905); choose another algorithm, or permit SHA-1 expressly"
    )]
    Sha1 {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// An algorithm that no fit library has.
    #[error(
        "algorithm 16 is not supported: no library of ED448 is both finished and maintained; choose ED25519"
    )]
    Ed448,
    /// A DNSKEY record that cannot verify signatures.
    #[error("the DNSKEY record is of no use: {what}; correct it, or leave the key out")]
    PublicKey {
        /// What is wrong with it.
        what: String,
    },
    /// No free key tag was found.
    #[error(
        "no key was found whose tag differs from those of the zone's {keys} other keys; use fewer keys"
    )]
    KeyTagsTaken {
        /// The number of keys that the zone has.
        keys: usize,
    },
    /// NSEC3 iterations beyond the field's range.
    #[error(
        "{iterations} NSEC3 iterations are not possible; choose 0 (RFC 9276 section 3.1), at most 65535"
    )]
    Iterations {
        /// The number asked for.
        iterations: u64,
    },
    /// A salt that is not hexadecimal.
    #[error(
        "{salt} is not a salt; give pairs of hexadecimal digits, or - for none (RFC 9276 section 3.1)"
    )]
    Salt {
        /// As it was given.
        salt: String,
    },
    /// A salt beyond the field's range.
    #[error(
        "a salt of {octets} octets is not possible; give none (RFC 9276 section 3.1), at most 255 octets"
    )]
    SaltTooLong {
        /// Its length.
        octets: usize,
    },
    /// Signatures that would never be valid.
    #[error(
        "the signatures would expire ({expiration}) not after their inception ({inception}); choose a later expiration"
    )]
    Validity {
        /// Seconds since 1970, modulo 2^32.
        inception: u32,
        /// Seconds since 1970, modulo 2^32.
        expiration: u32,
    },
    /// Signatures that would be expired, or renewed, at the next signing.
    #[error(
        "signatures would end {left_s} s from now, some of them {jitter_s} s earlier (-j), while those that end within {refresh_s} s (-i) are expired or to be renewed already; choose a later end (-e, -X), or smaller -j or -i"
    )]
    RenewedAtOnce {
        /// Seconds from now to the expiration.
        left_s: i64,
        /// The spread of expirations, in seconds.
        jitter_s: u32,
        /// The refresh interval, in seconds.
        refresh_s: i64,
    },
    /// Two ways to say what changed.
    #[error(
        "changes (--changes) are made to the signed zone itself, while an earlier version of it (--previous) is for a zone that has them; leave out one"
    )]
    PreviousAndChanges,
    /// An earlier version of another zone.
    #[error(
        "{} is the zone {found}, not an earlier version of {zone}; give the signed zone file that is to be replaced", file.display()
    )]
    PreviousZone {
        /// The file.
        file: PathBuf,
        /// The zone that it has.
        found: String,
        /// The zone to be signed.
        zone: String,
    },
    /// Records that ask the parent to remove its DS records, and others that ask it to have some.
    #[error(
        "the zone {zone} has a CDS or CDNSKEY record by which its parent is to remove all DS records (RFC 8078 section 4), and is to get such records of its keys too; remove that record, or publish none of the keys (--cds, SyncPublish)"
    )]
    DeletionConflict {
        /// The zone.
        zone: String,
    },
    /// A signed zone that has its name, which may not be on disk.
    #[error(
        "{}: the signed zone is there, but its folder could not be brought to disk: {source}; new keys and the zone were kept, and the state file was not written", file.display()
    )]
    NotOnDisk {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The zone has no SOA record at its apex.
    #[error("the zone {zone} has no SOA record at its apex; add one")]
    NoSoa {
        /// The zone.
        zone: String,
    },
    /// A digest of what is no whole signed zone.
    #[error(
        "a ZONEMD record is of a whole signed zone: sign the joined zone with the digest, which keeps the signatures of its pieces"
    )]
    DigestOfPiece,
    /// A setting by which a chain that is to stay as it is would no longer fit the zone.
    #[error(
        "{what} would need another chain of denial than the one given (--given-chain); put them in when the chain is made (--chain-only)"
    )]
    ChangesGivenChain {
        /// What does not go with it.
        what: &'static str,
    },
    /// A zone without the chain that is to be signed.
    #[error(
        "the zone {zone} has no chain of denial to be signed as it is: neither an NSEC record at its apex, nor an NSEC3PARAM record and NSEC3 records; make it first (--chain-only), or sign without --given-chain"
    )]
    NoGivenChain {
        /// The zone.
        zone: String,
    },
    /// The chain names other types at the apex than it would have.
    #[error(
        "the chain of the zone {zone} does not fit: at the apex it has to name {types}; make it anew (--chain-only) with the same keys and options as here"
    )]
    GivenTypes {
        /// The zone.
        zone: String,
        /// The types that the apex would have.
        types: String,
    },
    /// A name that no valid signatures can be made for.
    #[error("{at}: {what} {owner}, {hint}")]
    Name {
        /// The record.
        at: dnsrig_zone::Position,
        /// What is wrong.
        what: &'static str,
        /// The name.
        owner: String,
        /// Why, and what to do.
        hint: &'static str,
    },
    /// An NSEC3 chain that is to be kept and was not found.
    #[error(
        "the zone {zone} has an NSEC3PARAM record, but no NSEC3 record was found that tells whether its chain is with opt-out; say which chain the zone is to have: -3 SALT with or without -A, or --nsec"
    )]
    KeptChain {
        /// The zone.
        zone: String,
    },
    /// A zone whose NSEC3 chain is to be kept, in what can be read only once.
    #[error(
        "{}: this is not a regular file, so it cannot be read once more for what the zone's NSEC3 chain is like, which is to be kept; give a file, or say which chain the zone is to have: -3 SALT with or without -A, or --nsec", file.display()
    )]
    KeptChainOfPipe {
        /// What it is read from.
        file: PathBuf,
    },
    /// A name that cannot be hashed into the zone.
    #[error("hashed names below {zone} would exceed 255 octets; use NSEC for this zone")]
    HashedNameTooLong {
        /// The zone.
        zone: String,
    },
    /// Two names with the same NSEC3 hash (RFC 5155 section 7.1).
    #[error("two names have the NSEC3 hash {hash}; sign with another salt")]
    HashCollision {
        /// In base32hex.
        hash: String,
    },
    /// A key file that cannot be read.
    #[error("{}: cannot read the key file: {source}; give the name of a pair of .key and .private files", file.display())]
    ReadKey {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// One file of a pair is missing.
    #[error(
        "{}: this file is missing, while {} is there; restore it from where the key was made", missing.display(), present.display()
    )]
    MissingHalf {
        /// The file that is not there.
        missing: PathBuf,
        /// The file that is.
        present: PathBuf,
    },
    /// A folder of key files that cannot be read.
    #[error("{}: cannot read the folder of keys: {source}; give the one that has the key files", folder.display())]
    KeyFolder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A key that cannot be used as asked.
    #[error("the key {key}: {what}; {hint}")]
    UnusableKey {
        /// The stem of its files' names.
        key: String,
        /// What is wrong.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A signed zone was wanted, for its DNSKEY records.
    #[error(
        "{}: the zone has no DNSKEY record {wanted}; sign it first, or give the .key file", file.display()
    )]
    NoDnskey {
        /// The zone file.
        file: PathBuf,
        /// What kind was wanted.
        wanted: &'static str,
    },
    /// A digest that DS records cannot have here.
    #[error("{name} is not a digest type of DS records; choose 2 (SHA-256) or 4 (SHA-384)")]
    UnsupportedDigest {
        /// As it was given.
        name: String,
    },
    /// A PKCS#11 URI that is none (RFC 7512).
    #[error(
        "the PKCS#11 URI is wrong: {what}; write one such as pkcs11:token=dns;object=example-ksk?pin-source=/etc/dns/pin"
    )]
    Pkcs11Uri {
        /// What is wrong; never with a PIN.
        what: String,
    },
    /// A file that a PIN cannot be read from.
    #[error("{}: cannot read the PIN: {source}; give a text file of one line", file.display())]
    PinFile {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A PKCS#11 module that cannot be used.
    #[error(
        "the PKCS#11 module {} cannot be used: {what}; name one by module-path in the URI or by PKCS11_MODULE_PATH", module.display()
    )]
    Pkcs11Module {
        /// Its path, or its name for the loader to look for.
        module: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A key file that names code to load, and that others can write to.
    #[error(
        "{}: this key file names a PKCS#11 module and is writable for others than its owner; check it, then: chmod 600", file.display()
    )]
    UntrustedModule {
        /// The file.
        file: PathBuf,
    },
    /// A token that has no such key, or does not do what is asked.
    #[error("{uri}: {what}; {hint}")]
    Pkcs11 {
        /// The key's URI, without PIN.
        uri: String,
        /// What is wrong.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A key file with wrong content.
    #[error("{}:{line}: {what}; {hint}", file.display())]
    KeyFile {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A zone file, or a .key file, that cannot be read or written.
    #[error(transparent)]
    Zone(#[from] dnsrig_zone::ZoneError),
    /// A key file that cannot be written.
    #[error("{}: cannot write the key file: {source}; an existing key is never overwritten", file.display())]
    WriteKey {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The cryptographic library refused.
    #[error(
        "{what} failed in the cryptographic library; the key may be damaged, so make a new one"
    )]
    Crypto {
        /// What was attempted.
        what: &'static str,
    },
}
