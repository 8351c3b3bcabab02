//! Signatures by keys that have tables of their multiples: the tables say what AWS-LC says.
#![no_main]

use dnsrig_sign::PublicKey;
use domain::utils::base64;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The keys of RFC 6605 section 6.1 and RFC 8080 section 6.1.
const KEYS: [(u8, &str); 2] = [
    (
        13,
        "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==",
    ),
    (15, "l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4="),
];

static PUBLIC_KEYS: LazyLock<Vec<PublicKey>> = LazyLock::new(|| {
    KEYS.into_iter()
        .map(|(algorithm, text)| {
            let octets: Vec<u8> = base64::decode(text).unwrap();
            let rdata = [&[1, 1, 3, algorithm][..], &octets].concat();
            let key = PublicKey::from_dnskey(&rdata).unwrap();
            // Enough for the key to get its tables.
            let none: (&[u8], &[u8]) = (b"", b"");
            key.verify_batch(&[none; 1000], &mut Vec::new());
            key
        })
        .collect()
});

fuzz_target!(|signed: Vec<(&[u8], &[u8])>| {
    for key in PUBLIC_KEYS.iter() {
        let mut valid = Vec::new();
        key.verify_batch(&signed, &mut valid);
        let expected: Vec<bool> = signed
            .iter()
            .map(|(data, signature)| key.verify(data, signature))
            .collect();
        assert_eq!(valid, expected);
    }
});
