use super::*;
use aws_lc_rs::hmac;

/// What a server puts into the TSIG record of its answer.
struct Answering<'a> {
    key: &'a TsigKey,
    time_s: u64,
    error: u16,
    other: &'a [u8],
}

fn wire_name(key: &TsigKey) -> Vec<u8> {
    key.name().as_slice().to_ascii_lowercase()
}

/// The MAC of a signed query, which ends with MAC, Original ID, Error and Other Len.
fn mac_of(sent: &[u8], key: &TsigKey) -> Vec<u8> {
    let end = sent.len() - 6;
    sent[end - key.algorithm().hmac().tag_len()..end].to_vec()
}

/// Signs an answer by the letter of RFC 8945 section 4.3.
fn sign_answer(mut answer: Vec<u8>, request_mac: &[u8], with: &Answering) -> Vec<u8> {
    let key = with.key;
    let algorithm = key.algorithm().wire_name();
    let time_and_fudge = [&with.time_s.to_be_bytes()[2..], &[1, 44]].concat();
    let other = [&(with.other.len() as u16).to_be_bytes()[..], with.other].concat();
    let digested = [
        &(request_mac.len() as u16).to_be_bytes()[..],
        request_mac,
        &answer,
        &wire_name(key),
        &[0, 255, 0, 0, 0, 0],
        &algorithm,
        &time_and_fudge,
        &with.error.to_be_bytes(),
        &other,
    ]
    .concat();
    let mac = hmac::sign(
        &hmac::Key::new(key.algorithm().hmac(), key.secret()),
        &digested,
    );
    let rdata = [
        &algorithm[..],
        &time_and_fudge,
        &(mac.as_ref().len() as u16).to_be_bytes(),
        mac.as_ref(),
        &answer[..2],
        &with.error.to_be_bytes(),
        &other,
    ]
    .concat();
    answer.extend(wire_name(key));
    answer.extend([0, 250, 0, 255, 0, 0, 0, 0]);
    answer.extend((rdata.len() as u16).to_be_bytes());
    answer.extend(rdata);
    answer[11] += 1;
    answer
}

fn at(key: &TsigKey, time_s: u64) -> Answering<'_> {
    Answering {
        key,
        time_s,
        error: 0,
        other: &[],
    }
}

#[test]
fn signs_and_verifies_with_every_algorithm() {
    for algorithm in TsigAlgorithm::ALL {
        let key = key(algorithm);
        let mut dresser = with_tsig(algorithm);
        let sent = dresser.dress(SENDING, &plain_query(), NOW_S).to_vec();
        let unsigned = [&SENDING.id.to_be_bytes(), &plain_query()[2..]].concat();
        let request = hmac::Key::new(algorithm.hmac(), b"secret");
        let digested = [
            &unsigned[..],
            &wire_name(&key),
            &[0, 255, 0, 0, 0, 0],
            &algorithm.wire_name(),
            &NOW_S.to_be_bytes()[2..],
            &[1, 44, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(
            mac_of(&sent, &key),
            hmac::sign(&request, &digested).as_ref()
        );

        let mut answer = unsigned;
        answer[2] |= 0x80;
        let answer = sign_answer(answer, &mac_of(&sent, &key), &at(&key, NOW_S));
        let mut check =
            |slot, now_s| inspect(&mut dresser, Sending { slot, ..SENDING }, &answer, now_s);
        assert_eq!(
            check(SENDING.slot, NOW_S + 300).tsig,
            Some(TsigCheck::Verified)
        );
        assert_eq!(check(SENDING.slot, NOW_S + 301).tsig, Some(TsigCheck::Time));
        assert_eq!(check(SENDING.slot, NOW_S - 301).tsig, Some(TsigCheck::Time));
        assert_eq!(check(SENDING.slot + 1, NOW_S).tsig, None, "another place");
    }
}

#[test]
fn tells_apart_what_is_wrong_with_an_answer() {
    let ours = key(TsigAlgorithm::HmacSha256);
    let other_name: TsigKey = "other.example:c2VjcmV0".parse().unwrap();
    let other_algorithm = key(TsigAlgorithm::HmacSha1);
    let other_secret: TsigKey = "key.example:c2VjcmV1".parse().unwrap();
    let mut dresser = with_tsig(TsigAlgorithm::HmacSha256);
    let sent = dresser.dress(SENDING, &plain_query(), NOW_S).to_vec();
    let mac = mac_of(&sent, &ours);
    let answer = echo(&[&SENDING.id.to_be_bytes(), &plain_query()[2..]].concat());
    let mut check = |answer: &[u8]| {
        let inspection = inspect(&mut dresser, SENDING, answer, NOW_S);
        (inspection.tsig.unwrap(), inspection.must_ignore())
    };
    assert_eq!(check(&answer), (TsigCheck::Missing, true));
    for other in [&other_name, &other_algorithm, &other_secret] {
        let signed = sign_answer(answer.clone(), &mac, &at(other, NOW_S));
        assert_eq!(check(&signed), (TsigCheck::Wrong, true));
    }
    let another_query = sign_answer(answer.clone(), &[1; 32], &at(&ours, NOW_S));
    assert_eq!(check(&another_query), (TsigCheck::Wrong, true));

    let bad_time = Answering {
        error: 18,
        other: &[0; 6],
        ..at(&ours, NOW_S - 1000)
    };
    let signed = sign_answer(answer.clone(), &mac, &bad_time);
    assert_eq!(check(&signed), (TsigCheck::BadTime, false));
    for (error, expected) in [
        (16, TsigCheck::BadSig),
        (17, TsigCheck::BadKey),
        (18, TsigCheck::BadTime),
        (22, TsigCheck::OtherError),
        (0, TsigCheck::Wrong),
    ] {
        let unsigned = [
            &answer[..11],
            &[1],
            &answer[12..],
            &wire_name(&ours),
            &[0, 250, 0, 255, 0, 0, 0, 0, 0, 29],
            &ours.algorithm().wire_name(),
            &[0; 10],
            &[0xab, 0xcd, 0, error, 0, 0],
        ]
        .concat();
        assert_eq!(check(&unsigned).0, expected, "error {error}");
    }
}

#[test]
fn the_owner_of_the_tsig_record_may_be_compressed() {
    let key: TsigKey = "www.example:c2VjcmV0".parse().unwrap();
    let mut dresser = dresser(DressSettings {
        tsig: Some(key.clone()),
        ..DressSettings::default()
    });
    let sent = dresser.dress(SENDING, &plain_query(), NOW_S).to_vec();
    let answer = echo(&[&SENDING.id.to_be_bytes(), &plain_query()[2..]].concat());
    let owner = answer.len();
    let mut signed = sign_answer(answer, &mac_of(&sent, &key), &at(&key, NOW_S));
    for pointer in [&b"\xc0\x0c"[..], b"\x03wWw\xc0\x10"] {
        signed.splice(
            owner..owner + wire_name(&key).len(),
            pointer.iter().copied(),
        );
        let inspection = inspect(&mut dresser, SENDING, &signed, NOW_S);
        assert_eq!(inspection.tsig, Some(TsigCheck::Verified));
        signed.splice(owner..owner + pointer.len(), wire_name(&key));
    }
}

#[test]
fn tampering_at_any_octet_is_found() {
    let key = key(TsigAlgorithm::HmacSha256);
    let mut dresser = with_tsig(TsigAlgorithm::HmacSha256);
    let sent = dresser
        .dress(SENDING, &edns_query(&[0, 3, 0, 0]), NOW_S)
        .to_vec();
    let answer = echo(&[&SENDING.id.to_be_bytes(), &edns_query(&[0, 3, 0, 0])[2..]].concat());
    let record = answer.len();
    let signed = sign_answer(answer, &mac_of(&sent, &key), &at(&key, NOW_S));
    let names = record..record + wire_name(&key).len() + 10 + key.algorithm().wire_name().len();
    // The ID is that of the client's transport, and has been found already.
    for place in 2..signed.len() {
        for flip in 1..=255 {
            let mut tampered = signed.clone();
            tampered[place] ^= flip;
            let only_case =
                names.contains(&place) && signed[place].is_ascii_alphabetic() && flip == 0x20;
            let Ok(answer) = Answer::new(&tampered) else {
                continue;
            };
            let inspection = dresser.inspect(SENDING, (1, QUESTION), &answer, NOW_S);
            let expected = if only_case {
                Some(TsigCheck::Verified)
            } else {
                None
            };
            assert!(
                inspection.tsig == expected || inspection.must_ignore(),
                "octet {place} ^ {flip}: {inspection:?}"
            );
        }
    }
}
