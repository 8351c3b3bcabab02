//! Reading master files: what must be understood, and what must be refused with which message.

use bytes::Bytes;
use dnsrig_zone::{Name, ReadZone, Zone, ZoneError};
use domain::base::iana::Rtype;
use std::fs;
use std::path::Path;

fn name(text: &str) -> Name {
    Name::bytes_from_str(text).unwrap()
}

fn read(text: &str) -> ReadZone {
    ReadZone::from_text(text.as_bytes(), None).unwrap()
}

fn message(text: &[u8]) -> String {
    ReadZone::from_text(text, None).unwrap_err().to_string()
}

const SOA: &str =
    "example.com. 3600 IN SOA ns1.example.com. root.example.com. 1 7200 900 1209600 300\n";

fn with_soa(rest: &str) -> String {
    format!("{SOA}{rest}")
}

/// The RDATA of the only record of `rtype`.
fn rdata(zone: &Zone, rtype: Rtype) -> Bytes {
    let mut found = zone.records().iter().filter(|record| record.rtype == rtype);
    let record = found.next().unwrap();
    assert!(found.next().is_none());
    record.rdata.clone()
}

#[test]
fn everything_rfc_1035_has() {
    let text = "\u{feff}$ORIGIN example.com.\r\n\
        $TTL 1h30m ; with units\r\n\
        @ IN SOA ns1 root (\r\n  2024010100 ; serial\r\n  2h 15M 2w\r\n  5m )\r\n\
        \tNS ns1\r\n\
        \tIN 60 NS ns2\r\n\
        ns1 60 IN A 192.0.2.1\r\n\
        ns2 in 1D aaaa 2001:db8::1\r\n\
        a\\.b A 192.0.2.2\r\n\
        \\065x A 192.0.2.3\r\n\
        txt TXT \"a;b\" (\"c d\"\r\n e) \"\\\"q\\\\\\007\"\r\n\
        $ORIGIN sub\r\n\
        x CNAME @\r\n\
        . IGNORED\r\n";
    let text = text.replace(". IGNORED\r\n", "");
    let read = read(&text);
    let zone = &read.zone;
    assert_eq!(*zone.origin(), name("example.com."));
    assert_eq!(zone.records().len(), 10 - 1);
    let soa = zone.soa().unwrap();
    assert_eq!(soa.ttl, 5400);
    assert_eq!(
        soa.rdata[soa.rdata.len() - 20..],
        [2024010100u32, 7200, 900, 1_209_600, 300]
            .map(u32::to_be_bytes)
            .concat()
    );
    assert_eq!(
        &rdata(zone, Rtype::TXT)[..],
        b"\x03a;b\x03c d\x01e\x04\"q\\\x07"
    );
    let owners: Vec<String> = zone
        .records()
        .iter()
        .map(|record| record.owner.fmt_with_dot().to_string())
        .collect();
    assert!(owners.contains(&"a\\.b.example.com.".to_owned()));
    assert!(owners.contains(&"Ax.example.com.".to_owned()));
    assert_eq!(
        &rdata(zone, Rtype::CNAME)[..],
        b"\x03sub\x07example\x03com\x00"
    );
    let ns = zone
        .records()
        .iter()
        .filter(|record| record.rtype == Rtype::NS);
    assert!(ns.map(|record| record.ttl).eq([60, 60]));
    assert_eq!(read.warnings.len(), 1);
    assert!(read.warnings[0].to_string().starts_with(
        "-:7:2: the records of example.com. NS have different TTLs; the lowest, 60 s"
    ));
}

#[test]
fn ttl_left_out() {
    let zone = read(
        "example. IN SOA . . 1 2 3 4 1234\n NS ns.example.\nns.example. 60 A 192.0.2.1\n AAAA ::1\n",
    );
    let ttls: Vec<u32> = zone
        .zone
        .records()
        .iter()
        .map(|record| record.ttl)
        .collect();
    assert_eq!(ttls, [1234, 1234, 60, 60]);
    assert_eq!(zone.warnings.len(), 1);
    let before_soa = read("www.example. A 192.0.2.1\nexample. SOA . . 1 2 3 4 77\n");
    assert!(
        before_soa
            .zone
            .records()
            .iter()
            .all(|record| record.ttl == 77)
    );
}

#[test]
fn types_around_domain() {
    let cases: [(&str, Rtype, &[u8]); 17] = [
        (
            "TYPE65534 \\# 3 01 0203",
            Rtype::from_int(65534),
            b"\x01\x02\x03",
        ),
        ("TYPE1 \\# 4 C0000201", Rtype::A, b"\xC0\x00\x02\x01"),
        ("A \\# 4 C0000201", Rtype::A, b"\xC0\x00\x02\x01"),
        (
            "CAA 0 issue \"ca.example\"",
            Rtype::CAA,
            b"\x00\x05issueca.example",
        ),
        (
            "SVCB 1 . alpn=\"h2,h3\" port=53",
            Rtype::SVCB,
            b"\x00\x01\x00\x00\x01\x00\x06\x02h2\x02h3\x00\x03\x00\x02\x005",
        ),
        (
            "HTTPS 0 www.example.",
            Rtype::HTTPS,
            b"\x00\x00\x03www\x07example\x00",
        ),
        ("SPF \"v=spf1 -all\"", Rtype::SPF, b"\x0bv=spf1 -all"),
        ("AFSDB 1 h.", Rtype::AFSDB, b"\x00\x01\x01h\x00"),
        (
            "URI 10 1 \"ftp://ftp1.example/\"",
            Rtype::URI,
            b"\x00\x0a\x00\x01ftp://ftp1.example/",
        ),
        (
            "EUI48 00-00-5e-00-53-2a",
            Rtype::EUI48,
            b"\x00\x00\x5e\x00\x53\x2a",
        ),
        ("L32 10 10.1.2.0", Rtype::L32, b"\x00\x0a\x0a\x01\x02\x00"),
        (
            "NID 10 0014:4fff:ff20:ee64",
            Rtype::NID,
            b"\x00\x0a\x00\x14\x4f\xff\xff\x20\xee\x64",
        ),
        (
            "APL 1:192.168.32.0/21 !2:2001:db8::/32",
            Rtype::APL,
            b"\x00\x01\x15\x03\xc0\xa8\x20\x00\x02\x20\x84\x20\x01\x0d\xb8",
        ),
        (
            "CSYNC 66 3 A NS AAAA",
            Rtype::CSYNC,
            b"\x00\x00\x00\x42\x00\x03\x00\x04\x60\x00\x00\x08",
        ),
        (
            "CERT PGP 0 0 aGVsbG8=",
            Rtype::CERT,
            b"\x00\x03\x00\x00\x00hello",
        ),
        (
            "LOC 42 21 54 N 71 06 18 W -24m 30m",
            Rtype::LOC,
            b"\x00\x33\x16\x13\x89\x17\x2d\xd0\x70\xbe\x15\xf0\x00\x98\x8d\x20",
        ),
        ("TXT caf\u{e9}", Rtype::TXT, b"\x05caf\xc3\xa9"),
    ];
    for (text, rtype, expected) in cases {
        let zone = read(&with_soa(&format!("x.example.com. {text}\n"))).zone;
        assert_eq!(rdata(&zone, rtype), expected, "{text}");
    }
}

#[test]
fn the_root_zone() {
    let text = "$ORIGIN .\n. 1 SOA a. b. 1 2 3 4 5\n@ NS a\na A 192.0.2.1\njp. NS ns.jp\nns.jp A 192.0.2.2\n";
    let zone = read(text).zone;
    assert!(zone.origin().is_root());
    assert_eq!(zone.statistics().delegations, 1);
}

#[test]
fn last_line_without_line_end() {
    assert_eq!(
        read(&with_soa("x.example.com. A 192.0.2.1"))
            .zone
            .records()
            .len(),
        2
    );
}

#[test]
fn messages_name_place_and_remedy() {
    let cases = [
        ("x.example.com. A 192.0.2\n", "-:2:18: bad data for type A"),
        (
            "x.example.com. MX 10\n",
            "-:2:19: bad data for type MX: it ends too early",
        ),
        (
            "x.example.com. A 192.0.2.1 2\n",
            "-:2:28: bad data for type A: it has more fields",
        ),
        ("x.example.com. FOO 1\n", "-:2:16: FOO is not a record type"),
        (
            "x A 192.0.2.1\n",
            "-:2:1: a relative name, but no origin is known yet",
        ),
        (
            "x.example.com. NS ns\n",
            "-:2:19: a relative name, but no origin is known yet",
        ),
        (
            "x.example.com. CH A 192.0.2.1\n",
            "-:2:16: class CH; only zones of class IN",
        ),
        (
            "x.example.com. TXT \"abc\n",
            "-:2:20: a quoted string that does not end",
        ),
        (
            "x.example.com. ( A\n",
            "-:2:16: an opening parenthesis that is never closed",
        ),
        (
            "x.example.com. A ) 192.0.2.1\n",
            "-:2:18: a closing parenthesis without",
        ),
        (
            "x.example.com. TXT a\\300\n",
            "-:2:21: a backslash that begins no escape",
        ),
        (
            "x..example.com. A 192.0.2.1\n",
            "-:2:1: x..example.com. is not a domain name",
        ),
        (
            "x.example.com. MX 1 a..b.\n",
            "-:2:21: bad data for type MX: a name with an empty label",
        ),
        (
            "x.example.com. 99999999999 A 192.0.2.1\n",
            "-:2:16: 99999999999 is not a TTL",
        ),
        ("x.example.com. A\0 192.0.2.1\n", "-:2:17: control octet 0"),
        (
            "x.example.com. AXFR\n",
            "-:2:16: type AXFR cannot stand in a zone",
        ),
        (
            "x.example.com. WKS 192.0.2.1 6 25\n",
            "-:2:20: the presentation format of type WKS is not supported",
        ),
        (
            "x.example.com. A \\# 3 010203\n",
            "-:2:21: bad data for type A: the octets do not fit",
        ),
        (
            "x.example.com. NS \\# 2 C000\n",
            "-:2:22: bad data for type NS: the octets do not fit",
        ),
        (
            "example.org. A 192.0.2.1\n",
            "-:2:1: example.org. is not in the zone example.com.",
        ),
        (
            "x.example.com. CNAME a.\nx.example.com. A 192.0.2.1\n",
            "-:3:1: x.example.com. has a CNAME record, so A",
        ),
        (
            "x.example.com. CNAME a.\nx.example.com. CNAME b.\n",
            "-:3:1: x.example.com. has a CNAME record, so CNAME",
        ),
        (
            "example.com. SOA . . 1 2 3 4 5\n",
            "-:2:1: a second SOA record, the first is at -:1:1",
        ),
        (
            "$GENERATE 1-2 a$ A 192.0.2.$\n",
            "-:2:1: $GENERATE is an extension of BIND",
        ),
        ("$FOO\n", "-:2:1: unknown directive"),
        ("$TTL x\n", "-:2:6: not a TTL"),
        (
            "$INCLUDE x\n",
            "-:2:10: $INCLUDE in text that has no folder",
        ),
    ];
    for (text, expected) in cases {
        let message = message(with_soa(text).as_bytes());
        assert!(message.starts_with(expected), "{text:?}: {message}");
        assert!(message.contains(';'), "no remedy: {message}");
    }
    assert!(message(b"").starts_with("-: no SOA record; add one"));
    assert!(message(b" A 192.0.2.1\n").starts_with("-:1:2: a record without owner"));
    let other = ReadZone::from_text(SOA.as_bytes(), Some(&name("example.org.")))
        .unwrap_err()
        .to_string();
    assert!(
        other.starts_with("-: no SOA record at example.org.; the file is the zone example.com."),
        "{other}"
    );
}

#[test]
fn a_transfer_ends_with_the_soa_again() {
    assert_eq!(read(&with_soa(SOA)).zone.records().len(), 1);
}

#[test]
fn missing_file_is_named() {
    let error = Zone::read(Path::new("/nonexistent/zone"), None).unwrap_err();
    assert!(matches!(error, ZoneError::Read { .. }));
    assert!(
        error
            .to_string()
            .starts_with("/nonexistent/zone: cannot read")
    );
}

#[test]
fn includes() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.zone");
    fs::create_dir(folder.path().join("parts")).unwrap();
    fs::write(
        &main,
        "$ORIGIN example.com.\n$TTL 60\n@ SOA . . 1 2 3 4 5\n$INCLUDE parts/a.zone sub\n A 192.0.2.9\nz A 192.0.2.1\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("parts/a.zone"),
        "x A 192.0.2.2\n$INCLUDE \"b zone\"\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("parts/b zone"),
        "$ORIGIN deep\ny A 192.0.2.3\n",
    )
    .unwrap();
    let zone = Zone::read(&main, None).unwrap();
    let owners: Vec<String> = zone
        .records()
        .iter()
        .map(|record| record.owner.to_string())
        .collect();
    assert_eq!(
        owners,
        [
            "example.com",
            "example.com",
            "y.deep.sub.example.com",
            "x.sub.example.com",
            "z.example.com"
        ]
    );

    fs::write(
        folder.path().join("parts/b zone"),
        "$INCLUDE ../main.zone\n",
    )
    .unwrap();
    let error = Zone::read(&main, None).unwrap_err();
    assert!(matches!(error, ZoneError::IncludeLoop { .. }));
    assert!(error.to_string().contains("parts/b zone:1:10: "), "{error}");

    fs::write(folder.path().join("parts/b zone"), "$INCLUDE missing\n").unwrap();
    let error = Zone::read(&main, None).unwrap_err();
    assert!(matches!(error, ZoneError::Include { .. }));
}

#[test]
fn digests_of_zones_are_not_shorter_than_the_rfc_allows() {
    let record = |digits: usize| {
        with_soa(&format!(
            "example.com. 60 IN ZONEMD 1 1 1 {}\n",
            "ab".repeat(digits)
        ))
    };
    let generic = |digits: usize| {
        with_soa(&format!(
            "example.com. 60 IN ZONEMD \\# {} 000000010101{}\n",
            6 + digits,
            "ab".repeat(digits)
        ))
    };
    for octets in [0, 1, 11] {
        for text in [record(octets), generic(octets)] {
            let said = message(text.as_bytes());
            assert!(said.contains(":2:"), "{said}");
        }
    }
    assert!(message(record(11).as_bytes()).contains("RFC 8976"));
    // What is read can be read again as it is written.
    for text in [record(12), generic(12)] {
        let zone = read(&text).zone;
        let mut written = Vec::new();
        zone.write_to(&mut written).unwrap();
        assert_eq!(
            Zone::parse(&written, None).unwrap().records(),
            zone.records()
        );
    }
}
