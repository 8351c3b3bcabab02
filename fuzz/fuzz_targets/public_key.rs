//! DNSKEY RDATA and signatures: keys parse or are refused with a reason, and verifying many signatures at once says what verifying
//! each says.
#![no_main]

use dnsrig_sign::PublicKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8], &[u8])| {
    let (rdata, data, signature) = input;
    match PublicKey::from_dnskey(rdata) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(key) => {
            let mut valid = Vec::new();
            key.verify_batch(&[(data, signature); 3], &mut valid);
            assert_eq!(valid, [key.verify(data, signature); 3]);
        }
    }
});
