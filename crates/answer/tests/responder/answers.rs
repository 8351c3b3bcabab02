//! Single responses: what RFCs ask for beside the data, and what the comparison with other servers does not reach.

use crate::test_zone::{name, nsec3, query, zone};
use dnsrig_answer::{AnswerError, Options, Reply, Responder, Scratch, Transport};
use dnsrig_sign::Denial;
use dnsrig_zone::{Record, Zone};
use domain::base::iana::{OptRcode, Rtype};
use domain::base::name::ToName;
use domain::base::{Message, Name};
use std::sync::Arc;

fn parse(origin: &str, text: &str) -> Arc<Zone> {
    Arc::new(Zone::parse(text.as_bytes(), Some(&name(origin))).expect("a valid zone"))
}

fn responder(zones: impl IntoIterator<Item = Arc<Zone>>) -> Responder {
    Responder::new(zones, Options::default()).expect("zones that can be served")
}

fn reply(responder: &Responder, message: &[u8], transport: Transport) -> (Reply, Vec<u8>) {
    let mut out = vec![0; 65_535];
    let reply = responder.answer(message, transport, &mut Scratch::default(), &mut out);
    (reply, out)
}

fn answer(responder: &Responder, message: &[u8], transport: Transport) -> Message<Vec<u8>> {
    match reply(responder, message, transport) {
        (Reply::Message { len, .. }, mut out) => {
            out.truncate(len);
            Message::from_octets(out).expect("a message")
        }
        (other, _) => panic!("no message: {other:?}"),
    }
}

fn rcode(responder: &Responder, message: &[u8], transport: Transport) -> OptRcode {
    answer(responder, message, transport).opt_rcode()
}

/// Owner and type of each record in the answer and authority sections.
fn records(message: &Message<Vec<u8>>) -> Vec<(Name<Vec<u8>>, Rtype)> {
    let section = |section: domain::base::RecordSection<'_, Vec<u8>>| -> Vec<_> {
        section
            .map(|record| record.expect("a whole record"))
            .map(|record| (record.owner().to_name(), record.rtype()))
            .collect()
    };
    let mut records = section(message.answer().expect("an answer section"));
    records.extend(section(message.authority().expect("an authority section")));
    records
}

fn types(message: &Message<Vec<u8>>) -> Vec<Rtype> {
    records(message)
        .into_iter()
        .map(|(_, rtype)| rtype)
        .collect()
}

#[test]
fn what_is_no_query_gets_no_answer() {
    let responder = responder([zone(None)]);
    let mut response = query(&name("example."), Rtype::SOA, None);
    response[2] |= 0x80;
    for message in [&[][..], &[0; 11], &response] {
        let (reply, _) = reply(&responder, message, Transport::Udp);
        assert!(matches!(reply, Reply::Nothing));
    }
}

#[test]
fn refusals_have_the_right_code() {
    let responder = responder([zone(None)]);
    let soa = query(&name("example."), Rtype::SOA, Some((1232, false)));
    let changed = |place: usize, octet: u8| {
        let mut message = soa.clone();
        message[place] = octet;
        message
    };
    let edns = soa.len() - 11;
    let class = edns - 1;
    let mut two_opts = soa.clone();
    two_opts.extend_from_within(edns..);
    two_opts[11] = 2;
    let trailing = [&soa[..], &[0]].concat();
    for (message, expected, what) in [
        (changed(2, 4 << 3), OptRcode::NOTIMP, "opcode NOTIFY"),
        (changed(2, 5 << 3), OptRcode::NOTIMP, "opcode UPDATE"),
        (changed(5, 0), OptRcode::FORMERR, "no question"),
        (changed(5, 2), OptRcode::FORMERR, "two questions"),
        (
            changed(7, 1),
            OptRcode::FORMERR,
            "an answer section that is missing",
        ),
        (
            changed(11, 2),
            OptRcode::FORMERR,
            "an additional record that is missing",
        ),
        (two_opts, OptRcode::FORMERR, "two OPT records"),
        (trailing, OptRcode::FORMERR, "an octet too many"),
        (changed(edns + 6, 1), OptRcode::BADVERS, "EDNS version 1"),
        (changed(class, 3), OptRcode::REFUSED, "class CH"),
        (changed(class, 255), OptRcode::REFUSED, "class ANY"),
        (
            query(&name("test."), Rtype::A, None),
            OptRcode::REFUSED,
            "another zone",
        ),
        (
            query(&name("."), Rtype::NS, None),
            OptRcode::REFUSED,
            "the zone above",
        ),
        (
            query(&name("example."), Rtype::AXFR, None),
            OptRcode::REFUSED,
            "AXFR over UDP",
        ),
        (
            query(&name("example."), Rtype::IXFR, None),
            OptRcode::NOTIMP,
            "IXFR",
        ),
        (
            query(&name("example."), Rtype::OPT, None),
            OptRcode::FORMERR,
            "a question for OPT",
        ),
    ] {
        assert_eq!(
            rcode(&responder, &message, Transport::Udp),
            expected,
            "{what}"
        );
    }
}

#[test]
fn edns_is_answered_with_edns() {
    let responder = responder([zone(None)]);
    let with = answer(
        &responder,
        &query(&name("example."), Rtype::SOA, Some((4096, true))),
        Transport::Udp,
    );
    let opt = with.opt().expect("an OPT record");
    assert_eq!(
        (opt.udp_payload_size(), opt.version(), opt.dnssec_ok()),
        (1232, 0, true)
    );
    let without = answer(
        &responder,
        &query(&name("example."), Rtype::SOA, None),
        Transport::Udp,
    );
    assert!(without.opt().is_none());
    let mut unknown_option = query(&name("example."), Rtype::SOA, Some((4096, false)));
    let rdata_len = unknown_option.len() - 1;
    unknown_option[rdata_len] = 6;
    unknown_option.extend([0xfd, 0xe9, 0, 2, 1, 2]);
    assert_eq!(
        rcode(&responder, &unknown_option, Transport::Udp),
        OptRcode::NOERROR
    );
    *unknown_option.last_mut().expect("an octet") = 0;
    unknown_option[rdata_len + 4] = 3;
    assert_eq!(
        rcode(&responder, &unknown_option, Transport::Udp),
        OptRcode::FORMERR,
        "an option longer than the record"
    );
}

#[test]
fn any_gets_one_rrset_over_udp_and_all_over_tcp() {
    let responder = responder([zone(Some(Denial::Nsec))]);
    let message = query(&name("several.example."), Rtype::ANY, Some((1232, true)));
    let one = types(&answer(&responder, &message, Transport::Udp));
    assert_eq!(one, [Rtype::A, Rtype::A, Rtype::A, Rtype::RRSIG]);
    let mut all = types(&answer(&responder, &message, Transport::Tcp));
    all.dedup();
    let (caa, unknown) = (Rtype::CAA, Rtype::from_int(65280));
    assert_eq!(
        all,
        [
            Rtype::A,
            Rtype::TXT,
            Rtype::RRSIG,
            Rtype::NSEC,
            caa,
            unknown
        ]
    );
}

#[test]
fn an_impossible_dname_target_is_yxdomain() {
    let long = "a".repeat(60);
    let text = format!(
        "@ 60 SOA ns ns 1 1 1 1 1\n@ 60 NS ns.test.\nold 60 DNAME {long}.{long}.{long}.{long}.test."
    );
    let responder = responder([parse("example.", &text)]);
    let message = query(&name("too-long.old.example."), Rtype::A, None);
    let response = answer(&responder, &message, Transport::Tcp);
    assert_eq!(response.opt_rcode(), OptRcode::YXDOMAIN);
    assert_eq!(types(&response), [Rtype::DNAME]);
    assert!(response.header().aa());
}

#[test]
fn a_referral_whose_glue_does_not_fit_is_truncated() {
    let hosts = 0..20;
    let mut text = "@ 60 SOA ns ns 1 1 1 1 1\n@ 60 NS ns.test.\n".to_owned();
    for host in hosts {
        text += &format!(
            "sub 60 NS host{host}.sub\nhost{host}.sub 60 A 192.0.2.{host}\nhost{host}.sub 60 AAAA 2001:db8::{host}\n"
        );
    }
    let responder = responder([parse("example.", &text)]);
    let message = query(&name("www.sub.example."), Rtype::A, None);
    let over_udp = answer(&responder, &message, Transport::Udp);
    assert!(over_udp.header().tc());
    assert!(over_udp.as_slice().len() <= 512);
    assert_eq!(types(&over_udp), [Rtype::NS; 20]);
    let over_tcp = answer(&responder, &message, Transport::Tcp);
    assert!(!over_tcp.header().tc() && !over_tcp.header().aa());
    assert_eq!(over_tcp.header_counts().arcount(), 40);
}

#[test]
fn the_nearest_zone_answers_but_ds_is_the_parents() {
    let parent =
        "@ 60 SOA ns ns 1 1 1 1 1\n@ 60 NS ns.test.\nchild 60 NS ns.test.\nchild 60 DS 1 13 2 00\n";
    let child = "@ 60 SOA ns ns 2 1 1 1 1\n@ 60 NS ns.test.\nwww 60 A 192.0.2.1\n";
    let both = responder([parse("example.", parent), parse("child.example.", child)]);
    let owner_of_soa = |qname: &str, rtype| {
        let response = answer(&both, &query(&name(qname), rtype, None), Transport::Tcp);
        records(&response)
            .into_iter()
            .find(|(_, rtype)| *rtype == Rtype::SOA)
            .map(|(owner, _)| owner.to_string())
    };
    assert_eq!(
        owner_of_soa("other.child.example.", Rtype::A).as_deref(),
        Some("child.example")
    );
    assert_eq!(
        owner_of_soa("other.example.", Rtype::A).as_deref(),
        Some("example")
    );
    let ds = query(&name("child.example."), Rtype::DS, None);
    assert_eq!(types(&answer(&both, &ds, Transport::Tcp)), [Rtype::DS]);
    let alone = responder([parse("child.example.", child)]);
    assert_eq!(
        types(&answer(&alone, &ds, Transport::Tcp)),
        [Rtype::SOA],
        "NODATA from the child"
    );
}

#[test]
fn owners_of_nsec3_do_not_exist() {
    let zone = zone(Some(nsec3(1)));
    let owner = zone
        .records()
        .iter()
        .find(|record| record.rtype == Rtype::NSEC3)
        .map(|record| record.owner.clone());
    let owner = owner.expect("an NSEC3 record");
    let responder = responder([zone]);
    for rtype in [Rtype::NSEC3, Rtype::A, Rtype::RRSIG] {
        let message = query(&owner, rtype, Some((1232, true)));
        assert_eq!(
            rcode(&responder, &message, Transport::Tcp),
            OptRcode::NXDOMAIN,
            "{rtype}"
        );
    }
}

#[test]
fn a_transfer_holds_the_zone_between_two_soas() {
    let zone = zone(Some(nsec3(1)));
    let responder = responder([Arc::clone(&zone)]);
    let message = query(&name("example."), Rtype::AXFR, None);
    let (Reply::Transfer(mut transfer), _) = reply(&responder, &message, Transport::Tcp) else {
        panic!("AXFR over TCP is a transfer");
    };
    // Small messages, so that there are several.
    let mut out = vec![0; 700];
    let (mut sent, mut messages) = (Vec::new(), 0);
    while let Some(len) = transfer.next_message(&responder, &mut Scratch::default(), &mut out) {
        messages += 1;
        let message = Message::from_octets(out[..len].to_vec()).expect("a message");
        assert!(message.header().aa() && message.header().qr());
        sent.extend(records(&message));
    }
    assert!(messages > 5);
    let soa = (name("example.").to_name(), Rtype::SOA);
    assert_eq!((sent.first(), sent.last()), (Some(&soa), Some(&soa)));
    let all = |record: &Record| (record.owner.to_name::<Vec<u8>>(), record.rtype);
    let expected = zone
        .records()
        .iter()
        .map(all)
        .filter(|record| *record != soa);
    assert!(sent[1..sent.len() - 1].iter().cloned().eq(expected));
    let below = query(&name("www.example."), Rtype::AXFR, None);
    assert_eq!(rcode(&responder, &below, Transport::Tcp), OptRcode::NOTAUTH);
}

#[test]
fn zones_that_cannot_be_served_are_named() {
    let error = Responder::new([zone(None), zone(None)], Options::default()).err();
    assert!(matches!(&error, Some(AnswerError::DuplicateZone { zone }) if zone == "example."));
    let no_soa = Arc::new(Zone::new(name("example."), Vec::new()));
    let error = Responder::new([no_soa], Options::default()).err();
    assert!(matches!(&error, Some(AnswerError::NoSoa { zone }) if zone == "example."));
}
