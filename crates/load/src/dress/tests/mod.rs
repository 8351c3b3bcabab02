mod tsig;

use super::*;
use crate::answer::records::options;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

const NOW_S: u64 = 1_800_000_000;
const QUESTION: &[u8] = b"\x03www\x07example\0\0\x01\0\x01";
const OPT: &[u8] = &[0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0];
const SENDING: Sending = Sending {
    client: 1,
    slot: 65,
    id: 0xabcd,
    query: 7,
};

fn query(counts: [u16; 4], body: &[&[u8]]) -> Vec<u8> {
    let mut message = vec![0, 0, 1, 0];
    message.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
    message.extend(body.concat());
    message
}

fn plain_query() -> Vec<u8> {
    query([1, 0, 0, 0], &[QUESTION])
}

fn edns_query(rdata: &[u8]) -> Vec<u8> {
    let opt = [&OPT[..10], &[rdata.len() as u8], rdata].concat();
    query([1, 0, 0, 1], &[QUESTION, &opt])
}

/// The message as a response of NOERROR.
fn echo(message: &[u8]) -> Vec<u8> {
    let mut answer = message.to_vec();
    answer[2] |= 0x80;
    answer
}

fn dresser(settings: DressSettings) -> Dresser {
    Dresser::new(&settings, 3, 192).unwrap()
}

fn with_cookies() -> Dresser {
    dresser(DressSettings {
        cookies: true,
        seed: 5,
        ..DressSettings::default()
    })
}

fn with_case() -> Dresser {
    dresser(DressSettings {
        randomise_case: true,
        seed: 5,
        ..DressSettings::default()
    })
}

fn key(algorithm: TsigAlgorithm) -> TsigKey {
    format!("{}:Key.example:c2VjcmV0", algorithm.name())
        .parse()
        .unwrap()
}

fn with_tsig(algorithm: TsigAlgorithm) -> Dresser {
    dresser(DressSettings {
        tsig: Some(key(algorithm)),
        ..DressSettings::default()
    })
}

fn inspect(dresser: &mut Dresser, sending: Sending, answer: &[u8], now_s: u64) -> Inspection {
    let answer = Answer::new(answer).unwrap();
    dresser.inspect(sending, (1, QUESTION), &answer, now_s)
}

/// The COOKIE options of a message.
fn cookies_of(message: &[u8]) -> Vec<Vec<u8>> {
    let echoed = echo(message);
    let rdata = Answer::new(&echoed)
        .unwrap()
        .opt_rdata()
        .unwrap_or_default();
    options(rdata)
        .filter(|(code, _)| *code == 10)
        .map(|(_, cookie)| cookie.to_vec())
        .collect()
}

#[test]
fn without_settings_there_is_none() {
    assert!(Dresser::new(&DressSettings::default(), 1, 64).is_none());
}

#[test]
fn case_is_random_but_can_be_had_again() {
    let mut dresser = with_case();
    let mut seen = std::collections::BTreeSet::new();
    for id in 0..200 {
        let sending = Sending { id, ..SENDING };
        let sent = dresser.dress(sending, &plain_query(), NOW_S).to_vec();
        assert_eq!(sent[..2], id.to_be_bytes());
        assert!(sent[12..].eq_ignore_ascii_case(QUESTION));
        assert_eq!(sent[24..], QUESTION[12..], "QTYPE and QCLASS stay");
        let kept = inspect(&mut dresser, sending, &echo(&sent), NOW_S);
        assert_eq!(kept.question, QuestionMatch::Same);
        let mut lost = echo(&sent);
        lost[13] ^= 0x20;
        let lost = inspect(&mut dresser, sending, &lost, NOW_S);
        assert_eq!(lost.question, QuestionMatch::OtherCase);
        assert!(!lost.must_ignore());
        seen.insert(sent[12..].to_vec());
    }
    // 200 of 1024 cases of ten letters, drawn at random, are about 180 different ones.
    assert!(seen.len() > 150, "{} different cases", seen.len());
}

#[test]
fn case_of_each_of_several_questions_is_random_and_else_nothing_changes() {
    let names = b"\x20abcdefghijklmnopqrstuvwxyz[]{}@`\0\0AAa";
    let message = query([2, 0, 0, 0], &[names, names]);
    let mut dresser = with_case();
    let sent = dresser.dress(SENDING, &message, NOW_S).to_vec();
    for start in [12, 12 + names.len()] {
        let (before, after) = (&message[start..start + names.len()], &sent[start..]);
        assert_ne!(before[..27], after[..27]);
        assert!(before[..27].eq_ignore_ascii_case(&after[..27]));
        assert_eq!(before[27..], after[27..names.len()]);
    }
    let answer = echo(&sent);
    let inspection = dresser.inspect(
        SENDING,
        (2, &message[12..]),
        &Answer::new(&answer).unwrap(),
        NOW_S,
    );
    assert_eq!(inspection.question, QuestionMatch::Same);
}

#[test]
fn cookies_are_learnt_and_sent() {
    let mut dresser = with_cookies();
    for message in [plain_query(), edns_query(&[]), edns_query(&[0, 3, 0, 0])] {
        let sent = dresser.dress(SENDING, &message, NOW_S).to_vec();
        assert_eq!(sent[10..12], [0, 1]);
        assert_eq!(cookies_of(&sent).len(), 1);
    }
    let client_cookie = cookies_of(dresser.dress(SENDING, &plain_query(), NOW_S)).remove(0);
    assert_eq!(client_cookie.len(), 8);
    let answer_with = |cookie: &[u8], flags: u8, extended: u8| {
        let mut answer = echo(&edns_query(
            &[&[0, 10, 0, cookie.len() as u8], cookie].concat(),
        ));
        answer[3] = flags;
        answer[12 + QUESTION.len() + 5] = extended;
        answer
    };
    let good = [&client_cookie[..], &[9; 16]].concat();
    let mut check = |answer: &[u8]| inspect(&mut dresser, SENDING, answer, NOW_S);
    for (answer, expected) in [
        (echo(&plain_query()), CookieCheck::Absent),
        (answer_with(&client_cookie, 0, 0), CookieCheck::WrongLength),
        (
            answer_with(&[&client_cookie[..], &[9; 7]].concat(), 0, 0),
            CookieCheck::WrongLength,
        ),
        (
            answer_with(&[&client_cookie[..], &[9; 33]].concat(), 0, 0),
            CookieCheck::WrongLength,
        ),
        (answer_with(&[9; 24], 0, 0), CookieCheck::WrongClient),
        (
            answer_with(&client_cookie[..7], 0, 0),
            CookieCheck::WrongClient,
        ),
        (answer_with(&good, 0, 0), CookieCheck::Learnt),
        (answer_with(&good, 0, 0), CookieCheck::Known),
        (
            answer_with(&[&client_cookie[..], &[8; 8]].concat(), 0, 0),
            CookieCheck::Learnt,
        ),
        (answer_with(&good, 7, 1), CookieCheck::BadCookie),
        (answer_with(&good, 0, 0), CookieCheck::Known),
    ] {
        let inspection = check(&answer);
        assert_eq!(inspection.cookie, Some(expected));
        assert_eq!(
            inspection.must_ignore(),
            expected == CookieCheck::WrongClient
        );
    }
    let sent = cookies_of(dresser.dress(SENDING, &plain_query(), NOW_S));
    assert_eq!(sent, [good]);
    let other_client = Sending {
        client: 0,
        ..SENDING
    };
    let others = cookies_of(dresser.dress(other_client, &plain_query(), NOW_S));
    assert_eq!(others[0].len(), 8);
    assert_ne!(others[0], client_cookie);
}

#[test]
fn cookies_of_the_stream_are_replaced() {
    let cookie = |octet| [&[0, 10, 0, 8][..], &[octet; 8]].concat();
    let nsid = [0, 3, 0, 0];
    let message = edns_query(&[&cookie(1)[..], &nsid, &cookie(2)].concat());
    let mut dresser = with_cookies();
    let sent = dresser.dress(SENDING, &message, NOW_S).to_vec();
    assert_eq!(
        sent.len(),
        edns_query(&[&nsid[..], &cookie(0)].concat()).len()
    );
    assert_eq!(cookies_of(&sent).len(), 1);
    assert!(!cookies_of(&sent)[0].iter().all(|octet| *octet < 3));
}

#[test]
fn cookies_count_where_the_tsig_record_is_missing_but_not_where_it_is_wrong() {
    let mut dresser = dresser(DressSettings {
        cookies: true,
        tsig: Some(key(TsigAlgorithm::HmacSha256)),
        ..DressSettings::default()
    });
    let sent = dresser.dress(SENDING, &plain_query(), NOW_S).to_vec();
    let cookies = [&[0, 10, 0, 24][..], &cookies_of(&sent)[0], &[9; 16]].concat();
    let unsigned = echo(&edns_query(&cookies));
    let not_tsig = [0, 0, 250, 0, 255, 0, 0, 0, 0, 0, 0];
    let mut wrongly_signed = [&unsigned[..], &not_tsig].concat();
    wrongly_signed[11] = 2;
    let mut other = unsigned.clone();
    other[13] ^= 1;
    let mut bad_cookie = unsigned.clone();
    bad_cookie[3] = 7;
    bad_cookie[12 + QUESTION.len() + 5] = 1;
    for (answer, tsig, cookie, must_ignore) in [
        (other, None, None, true),
        (wrongly_signed, Some(TsigCheck::Wrong), None, true),
        (
            unsigned,
            Some(TsigCheck::Missing),
            Some(CookieCheck::Learnt),
            true,
        ),
        (
            bad_cookie,
            Some(TsigCheck::Missing),
            Some(CookieCheck::BadCookie),
            false,
        ),
    ] {
        let inspection = inspect(&mut dresser, SENDING, &answer, NOW_S);
        assert_eq!((inspection.tsig, inspection.cookie), (tsig, cookie));
        assert_eq!(inspection.must_ignore(), must_ignore);
    }
}

#[test]
fn what_cannot_be_added_to_goes_as_it_is() {
    let a = [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4];
    let tsig = [0, 0, 250, 0, 255, 0, 0, 0, 0, 0, 0];
    let mut dresser = dresser(DressSettings {
        cookies: true,
        tsig: Some(key(TsigAlgorithm::HmacSha256)),
        ..DressSettings::default()
    });
    for message in [
        query([1, 0, 0, 1], &[QUESTION]),
        query([1, 0, 0, 0], &[QUESTION, b"\0"]),
        query([1, 0, 0, 1], &[QUESTION, &tsig]),
        query([1, 0, 0, 0], &[QUESTION, &[0; 65535 - 29]]),
    ] {
        let sent = dresser.dress(SENDING, &message, NOW_S).to_vec();
        assert_eq!(sent[2..], message[2..]);
        let inspection = inspect(&mut dresser, SENDING, &echo(&plain_query()), NOW_S);
        assert_eq!(inspection.tsig, None);
    }
    let opt_not_last = query([1, 0, 0, 2], &[QUESTION, OPT, &a]);
    let sent = dresser.dress(SENDING, &opt_not_last, NOW_S).to_vec();
    assert_eq!(cookies_of(&sent), Vec::<Vec<u8>>::new());
    assert_eq!(sent[10..12], [0, 3], "the TSIG record does not mind");
    let a_record = query([1, 1, 0, 0], &[QUESTION, &a]);
    assert_eq!(dresser.dress(SENDING, &a_record, NOW_S)[10..12], [0, 2]);
}

prop_compose! {
    fn sending()(client in 0usize..3, slot in 0u32..192, id in any::<u16>(), query in 0usize..1000) -> Sending {
        Sending { client, slot, id, query }
    }
}

proptest! {
    #[test]
    fn any_settings_and_messages_go_through(
        (cookies, randomise_case, tsig) in any::<(bool, bool, bool)>(),
        seed in any::<u64>(),
        (mut query_octets, mut answer_octets) in (vec(any::<u8>(), 12..120), vec(any::<u8>(), 12..200)),
        sending in sending(),
        echoes in any::<bool>(),
        damage in vec((any::<Index>(), any::<u8>()), 0..4),
    ) {
        let settings = DressSettings {
            cookies,
            randomise_case,
            tsig: tsig.then(|| key(TsigAlgorithm::HmacSha512)),
            seed,
        };
        let Some(mut dresser) = Dresser::new(&settings, 3, 192) else {
            return Ok(());
        };
        let additional = query_octets[11] & 1;
        query_octets[4..12].copy_from_slice(&[0, 1, 0, 0, 0, 0, 0, additional]);
        for message in [query_octets, edns_query(&[]), plain_query()] {
            let sent = dresser.dress(sending, &message, NOW_S).to_vec();
            prop_assert_eq!(&sent[..2], &sending.id.to_be_bytes());
            if echoes {
                answer_octets = echo(&sent);
            }
            for (place, octet) in &damage {
                let place = place.index(answer_octets.len());
                answer_octets[place] = *octet;
            }
            if let (Ok(answer), Some(question)) = (Answer::new(&answer_octets), question_section(&message)) {
                let inspection = dresser.inspect(sending, (1, question), &answer, NOW_S);
                if echoes && damage.is_empty() {
                    prop_assert_eq!(inspection.question, QuestionMatch::Same);
                    prop_assert!(inspection.tsig != Some(TsigCheck::Verified));
                }
            }
        }
    }

    #[test]
    fn dressed_queries_parse_and_keep_their_records(
        (cookies, randomise_case, tsig) in any::<(bool, bool, bool)>(),
        option in vec(any::<u8>(), 0..40),
        sending in sending(),
    ) {
        prop_assume!(cookies || randomise_case || tsig);
        let mut dresser = dresser(DressSettings {
            cookies,
            randomise_case,
            tsig: tsig.then(|| key(TsigAlgorithm::HmacSha1)),
            seed: 9,
        });
        let rdata = [&[0, 12, 0, option.len() as u8][..], &option].concat();
        let message = edns_query(&rdata);
        let sent = dresser.dress(sending, &message, NOW_S);
        let echoed = echo(sent);
        let answer = Answer::new(&echoed).unwrap();
        prop_assert!(answer.opt_rdata().unwrap().starts_with(&rdata));
        prop_assert_eq!(answer.tsig().is_some(), tsig);
        prop_assert_eq!(cookies_of(sent).len(), usize::from(cookies));
        prop_assert_eq!(echoed[11], 1 + u8::from(tsig));
    }
}
