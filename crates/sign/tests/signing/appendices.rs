//! The chains of the example zones in RFC 4035 appendix A and RFC 5155 appendix A.

use crate::common::key_pair;
use dnsrig_sign::{Algorithm, Denial, Nsec3Parameters, SigningParameters, sign};
use dnsrig_zone::{PresentationRecord, Zone};
use domain::base::iana::Rtype;

/// What both zones have.
const COMMON: &str = "$ORIGIN example.
$TTL 3600
@       SOA     ns1 bugs.x.w 1081539377 3600 300 3600000 3600
        NS      ns1
        NS      ns2
        MX      1 xx
a       NS      ns1.a
        NS      ns2.a
        DS      57855 5 1 B6DCD485719ADCA18E5F3D48A2331627FDD3636B
ns1.a   A       192.0.2.5
ns2.a   A       192.0.2.6
ai      A       192.0.2.9
        HINFO   \"KLH-10\" \"ITS\"
        AAAA    2001:db8:0:0:0:0:f00:baa9
ns1     A       192.0.2.1
ns2     A       192.0.2.2
*.w     MX      1 ai
x.w     MX      1 xx
x.y.w   MX      1 xx
xx      A       192.0.2.10
        HINFO   \"KLH-10\" \"TOPS-20\"
        AAAA    2001:db8:0:0:0:0:f00:baaa
";

/// Owner, next name and types of each link, in lower case, types sorted by name.
fn chain(
    zone: &Zone,
    denial: Denial,
    rtype: Rtype,
    fields_before_next: usize,
) -> Vec<(String, String, Vec<String>)> {
    let keys = key_pair(zone, Algorithm::Ed25519);
    let signed = sign(zone, &keys, &SigningParameters::new(denial)).unwrap();
    let links = signed
        .records()
        .iter()
        .filter(|record| record.rtype == rtype)
        .map(|record| {
            assert_eq!(record.ttl, 3600);
            let line = PresentationRecord(record).to_string();
            let fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let next = 4 + fields_before_next;
            let mut types = fields[next + 1..].to_vec();
            types.sort();
            (fields[0].to_lowercase(), fields[next].to_lowercase(), types)
        });
    links.collect()
}

fn expected(links: &[(&str, &str, &str)], suffix: &str) -> Vec<(String, String, Vec<String>)> {
    let links = links.iter().map(|(owner, next, types)| {
        let mut types: Vec<String> = types.split_whitespace().map(str::to_owned).collect();
        types.sort();
        (format!("{owner}{suffix}"), (*next).to_owned(), types)
    });
    links.collect()
}

#[test]
fn rfc_4035() {
    let text = format!("{COMMON}b NS ns1.b\n NS ns2.b\nns1.b A 192.0.2.7\nns2.b A 192.0.2.8\n");
    let zone = Zone::parse(text.as_bytes(), None).unwrap();
    let links = [
        ("example.", "a.example.", "NS SOA MX RRSIG NSEC DNSKEY"),
        ("a.example.", "ai.example.", "NS DS RRSIG NSEC"),
        ("ai.example.", "b.example.", "A HINFO AAAA RRSIG NSEC"),
        ("b.example.", "ns1.example.", "NS RRSIG NSEC"),
        ("ns1.example.", "ns2.example.", "A RRSIG NSEC"),
        ("ns2.example.", "*.w.example.", "A RRSIG NSEC"),
        ("*.w.example.", "x.w.example.", "MX RRSIG NSEC"),
        ("x.w.example.", "x.y.w.example.", "MX RRSIG NSEC"),
        ("x.y.w.example.", "xx.example.", "MX RRSIG NSEC"),
        ("xx.example.", "example.", "A HINFO AAAA RRSIG NSEC"),
    ];
    assert_eq!(
        chain(&zone, Denial::Nsec, Rtype::NSEC, 0),
        expected(&links, "")
    );
}

#[test]
fn rfc_5155() {
    // One owner is also the hash of another name.
    let text = format!(
        "{COMMON}c NS ns1.c\n NS ns2.c\nns1.c A 192.0.2.7\nns2.c A 192.0.2.8\n\
         2t7b4g4vsa5smi47k61mv5bv1a22bojr A 192.0.2.127\n"
    );
    let zone = Zone::parse(text.as_bytes(), None).unwrap();
    let parameters = Nsec3Parameters::new(12, "aabbccdd", true).unwrap();
    let apex = "MX DNSKEY NS SOA NSEC3PARAM RRSIG";
    let links = [
        (
            "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom",
            "2t7b4g4vsa5smi47k61mv5bv1a22bojr",
            apex,
        ),
        (
            "2t7b4g4vsa5smi47k61mv5bv1a22bojr",
            "2vptu5timamqttgl4luu9kg21e0aor3s",
            "A RRSIG",
        ),
        (
            "2vptu5timamqttgl4luu9kg21e0aor3s",
            "35mthgpgcu1qg68fab165klnsnk3dpvl",
            "MX RRSIG",
        ),
        (
            "35mthgpgcu1qg68fab165klnsnk3dpvl",
            "b4um86eghhds6nea196smvmlo4ors995",
            "NS DS RRSIG",
        ),
        (
            "b4um86eghhds6nea196smvmlo4ors995",
            "gjeqe526plbf1g8mklp59enfd789njgi",
            "MX RRSIG",
        ),
        (
            "gjeqe526plbf1g8mklp59enfd789njgi",
            "ji6neoaepv8b5o6k4ev33abha8ht9fgc",
            "HINFO A AAAA RRSIG",
        ),
        (
            "ji6neoaepv8b5o6k4ev33abha8ht9fgc",
            "k8udemvp1j2f7eg6jebps17vp3n8i58h",
            "",
        ),
        (
            "k8udemvp1j2f7eg6jebps17vp3n8i58h",
            "kohar7mbb8dc2ce8a9qvl8hon4k53uhi",
            "",
        ),
        (
            "kohar7mbb8dc2ce8a9qvl8hon4k53uhi",
            "q04jkcevqvmu85r014c7dkba38o0ji5r",
            "A RRSIG",
        ),
        (
            "q04jkcevqvmu85r014c7dkba38o0ji5r",
            "r53bq7cc2uvmubfu5ocmm6pers9tk9en",
            "A RRSIG",
        ),
        (
            "r53bq7cc2uvmubfu5ocmm6pers9tk9en",
            "t644ebqk9bibcna874givr6joj62mlhv",
            "MX RRSIG",
        ),
        (
            "t644ebqk9bibcna874givr6joj62mlhv",
            "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom",
            "HINFO A AAAA RRSIG",
        ),
    ];
    let made = chain(&zone, Denial::Nsec3(parameters.clone()), Rtype::NSEC3, 4);
    assert_eq!(made, expected(&links, ".example."));

    let keys = key_pair(&zone, Algorithm::Ed25519);
    let signed = sign(
        &zone,
        &keys,
        &SigningParameters::new(Denial::Nsec3(parameters)),
    )
    .unwrap();
    let rdata = |rtype| {
        signed
            .records()
            .iter()
            .find(|record| record.rtype == rtype)
            .unwrap()
            .rdata
            .clone()
    };
    assert_eq!(
        rdata(Rtype::NSEC3PARAM)[..],
        *b"\x01\x00\x00\x0c\x04\xaa\xbb\xcc\xdd"
    );
    assert_eq!(rdata(Rtype::NSEC3)[..2], [1, 1]);
}
