//! Any octets are read as a `.private` file, and as a PKCS#11 URI, or refused.

#![no_main]

use dnsrig_sign::{Pkcs11Uri, check_private_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let _ = check_private_text(text);
    if let Ok(text) = std::str::from_utf8(text)
        && let Err(error) = Pkcs11Uri::parse(text)
        && let Some((_, pin)) = text.split_once("pin-value=")
    {
        let pin = pin.split(['&', ';', '=']).next().unwrap_or_default();
        // Longer than the words of messages, which a PIN may happen to be.
        assert!(pin.len() < 24 || !error.to_string().contains(pin));
    }
});
