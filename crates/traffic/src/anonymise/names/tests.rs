use super::*;
use crate::anonymise::key::Key;
use crate::anonymise::seen::Seen;
use proptest::prelude::*;
use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

static KEYS: LazyLock<KeySet> = LazyLock::new(|| KeySet::new(&Key::new([9; 32])));
static SEEN: LazyLock<Seen> = LazyLock::new(Seen::default);
static SUFFIXES: LazyLock<KeptSuffixes> = LazyLock::new(KeptSuffixes::default);

fn wire(text: &str) -> Vec<u8> {
    let mut name = Vec::new();
    for label in text.split('.').filter(|label| !label.is_empty()) {
        labels_of::push_label(&mut name, label.as_bytes());
    }
    name.push(0);
    name
}

fn text(name: &[u8]) -> String {
    let labels = crate::wire::labels(name).map(|label| String::from_utf8_lossy(label).into_owned());
    labels.collect::<Vec<_>>().join(".")
}

fn mapped(policy: NamePolicy, name: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut pan = CachedPan::new(&KEYS.contents, &SEEN);
    match NameMapper::new(policy, &KEYS, &SUFFIXES).map(name, &mut pan, &mut output) {
        Mapped::Same => name.to_vec(),
        Mapped::Changed { .. } => output,
        Mapped::TooLong => Vec::new(),
    }
}

fn kept(name: &str) -> String {
    text(&mapped(NamePolicy::Keep, &wire(name)))
}

fn pseudonym(name: &str) -> String {
    text(&mapped(NamePolicy::Pseudonyms, &wire(name)))
}

/// What stands for an IPv4 address in contents.
fn v4(address: &str) -> [u8; 4] {
    KEYS.contents
        .v4(address.parse::<Ipv4Addr>().unwrap().to_bits())
        .to_be_bytes()
}

#[test]
fn octets_of_reverse_names_are_mapped_as_the_address() {
    let [a, b, c, d] = v4("192.0.2.77");
    for policy in [kept, pseudonym] {
        assert_eq!(
            policy("77.2.0.192.in-addr.arpa"),
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        );
        assert_eq!(
            policy("2.0.192.IN-ADDR.arpa"),
            format!("{c}.{b}.{a}.in-addr.arpa")
        );
        assert_eq!(policy("192.in-addr.arpa"), format!("{a}.in-addr.arpa"));
        assert_eq!(policy("in-addr.arpa"), "in-addr.arpa");
    }
    let services = kept("lb._dns-sd._udp.0.2.0.192.in-addr.arpa");
    let [_, _, _, network] = v4("192.0.2.0");
    assert_eq!(
        services,
        format!("lb._dns-sd._udp.{network}.{c}.{b}.{a}.in-addr.arpa")
    );
}

#[test]
fn classless_delegations_are_mapped_as_networks() {
    let [a, b, c, d] = v4("192.0.2.77");
    let first = d & 0b1100_0000;
    for (range, mapped) in [
        ("64/26", format!("{first}/26")),
        ("64-26", format!("{first}-26")),
        ("64-127", format!("{first}-{}", first + 63)),
    ] {
        let zone = format!("{mapped}.{c}.{b}.{a}.in-addr.arpa");
        assert_eq!(kept(&format!("{range}.2.0.192.in-addr.arpa")), zone);
        assert_eq!(
            pseudonym(&format!("77.{range}.2.0.192.in-addr.arpa")),
            format!("{d}.{zone}")
        );
    }
    for odd in ["65/26", "host77", "077", "256", "1-2-3"] {
        let name = wire(&format!("{odd}.2.0.192.in-addr.arpa"));
        let mapped = mapped(NamePolicy::Keep, &name);
        let (label, original) = (&mapped[..=odd.len()], &name[..=odd.len()]);
        assert!(label[0] == original[0] && label != original, "{odd} stays");
    }
    assert!(kept("hosts.2.0.192.in-addr.arpa").starts_with("hosts."));
}

#[test]
fn nibbles_of_reverse_names_are_mapped_as_the_address() {
    let address = "2001:db8:1:2::abcd".parse::<Ipv6Addr>().unwrap().to_bits();
    let name = |address: u128, nibbles: usize| {
        let nibbles =
            (32 - nibbles..32).map(|place| format!("{:x}.", address >> (4 * place) & 0xF));
        format!("{}ip6.arpa", nibbles.collect::<String>())
    };
    let mapped = KEYS.contents.v6(address);
    for len in [0, 1, 12, 32] {
        for policy in [kept, pseudonym] {
            assert_eq!(policy(&name(address, len)), name(mapped, len));
            assert_eq!(
                policy(&name(address, len).to_uppercase()),
                name(mapped, len)
            );
        }
    }
}

#[test]
fn telephone_numbers_get_pseudonyms() {
    let mapped = kept("4.3.2.1.5.5.5.1.e164.arpa");
    assert!(mapped.ends_with(".e164.arpa") && mapped != "4.3.2.1.5.5.5.1.e164.arpa");
    assert_eq!(mapped.len(), "4.3.2.1.5.5.5.1.e164.arpa".len());
}

#[test]
fn addresses_in_readable_names_are_mapped() {
    let [a, b, c, d] = v4("192.0.2.1");
    for (name, wanted) in [
        (
            "1.2.0.192.zen.example.org",
            format!("{d}.{c}.{b}.{a}.zen.example.org"),
        ),
        (
            "Host-192-0-2-1-Dyn.isp.test",
            format!("host-{a}-{b}-{c}-{d}-dyn.isp.test"),
        ),
        ("192x0x2x1.Isp.test", format!("{a}x{b}x{c}x{d}.Isp.test")),
        (
            "192-000-002-001.isp.test",
            format!("{a:03}-{b:03}-{c:03}-{d:03}.isp.test"),
        ),
    ] {
        assert_eq!(kept(name), wanted);
    }
    let v6 = Ipv6Addr::from_bits(
        KEYS.contents
            .v6("2001:db8::1".parse::<Ipv6Addr>().unwrap().to_bits()),
    );
    let label = v6.to_string().replace(':', "-");
    assert_eq!(kept("2001-db8--1.ip.test"), format!("{label}.ip.test"));
    assert_eq!(kept("2001:DB8::1.test"), format!("{v6}.test"));
    for (name, address) in [
        ("2a0d-abcd--cafe", "2a0d:abcd::cafe"),
        ("fe80--dead-beef", "fe80::dead:beef"),
        ("FE80::dead:BEEF", "fe80::dead:beef"),
        ("aa-b-c-d-e-f-aa-bb", "aa:b:c:d:e:f:aa:bb"),
    ] {
        let bits = address.parse::<Ipv6Addr>().unwrap().to_bits();
        let v6 = Ipv6Addr::from_bits(KEYS.contents.v6(bits)).to_string();
        let separator = if name.contains(':') { ":" } else { "-" };
        let label = v6.replace(':', separator);
        assert_eq!(kept(&format!("{name}.test")), format!("{label}.test"));
    }
    let nibbles = "1.".to_owned() + &"0.".repeat(31);
    assert_ne!(
        kept(&format!("{nibbles}bl.test")),
        format!("{nibbles}bl.test")
    );
    for same in [
        "WWW.Example.com",
        "a1-2-3.test",
        "xn--bcher-kva.example",
        "a--bee-s.x-y-z.test",
        "a.b.c.d.e.f.a.example",
        "24.rpz-ip.example",
        "v2024-11-22.test",
        "1.2.3.example",
        "300-1-1-1.test",
        "",
    ] {
        assert_eq!(kept(same), same);
    }
}

#[test]
fn addresses_below_lists_are_told_from_the_right() {
    let [a, b, c, d] = v4("10.11.12.13");
    let address = format!("{d}.{c}.{b}.{a}");
    let [five, ..] = v4("5.0.0.0");
    let [w, x, y, z] = v4("192.0.2.1");
    for (name, wanted) in [
        ("5.13.12.11.10.dnsbl", format!("{five}.{address}.dnsbl")),
        ("x5.13.12.11.10.dnsbl", format!("x5.{address}.dnsbl")),
        (
            "1.2.0.192.13.12.11.10.dnsbl.test",
            format!("{z}.{y}.{x}.{w}.{address}.dnsbl.test"),
        ),
        ("13.12.11.10.Bl.5.test", format!("{address}.Bl.5.test")),
    ] {
        assert_eq!(kept(name), wanted);
    }
}

#[test]
fn networks_of_response_policies_are_mapped_as_networks() {
    let [a, b, c, d] = v4("10.11.12.0");
    for (len, last) in [(24, 0), (28, d & 0xF0), (32, d)] {
        assert_eq!(
            kept(&format!("{len}.0.12.11.10.rpz-client-ip.Rpz.test")),
            format!("{len}.{last}.{c}.{b}.{a}.rpz-client-ip.Rpz.test")
        );
    }
    let [.., d] = v4("10.11.12.13");
    let [length, ..] = v4("24.0.0.0");
    for (odd, list) in [(24, "rpz-ip"), (24, "dnsbl")] {
        assert_eq!(
            kept(&format!("{odd}.13.12.11.10.{list}")),
            format!("{length}.{d}.{c}.{b}.{a}.{list}")
        );
    }
}

#[test]
fn nibbles_of_networks_below_lists_are_mapped() {
    let prefix = 0x2001_0DB8_0001_0000_u128 << 64;
    let nibbles = |address: u128, len: u32| {
        let nibbles = (32 - len..32).map(|place| format!("{:x}.", address >> (4 * place) & 0xF));
        nibbles.collect::<String>()
    };
    let mapped = KEYS.contents.v6(prefix);
    for len in [8, 11, 16, 32] {
        for list in ["origin6.asn.test", "dcba.test"] {
            let wanted = format!("{}{list}", nibbles(mapped, len));
            assert_eq!(kept(&format!("{}{list}", nibbles(prefix, len))), wanted);
        }
    }
    // Nibbles without many digits.
    assert_ne!(kept("d.c.b.a.d.0.a.2.test"), "d.c.b.a.d.0.a.2.test");
}

#[test]
fn reverse_zones_inside_readable_names_are_mapped() {
    let [a, b, c, d] = v4("192.0.2.1");
    for (name, wanted) in [
        (
            "1.2.0.192.IN-ADDR.arpa.Corp.Example",
            format!("{d}.{c}.{b}.{a}.in-addr.arpa.Corp.Example"),
        ),
        (
            "2.0.192.in-addr.arpa.corp.example",
            format!("{c}.{b}.{a}.in-addr.arpa.corp.example"),
        ),
        (
            "2.0.192.in-addr.arpa.192-0-2-1.example",
            format!("{c}.{b}.{a}.in-addr.arpa.{a}-{b}-{c}-{d}.example"),
        ),
        (
            "192--0--2--1.example",
            format!("{a}--{b}--{c}--{d}.example"),
        ),
        ("192,0,2,1.example", format!("{a},{b},{c},{d}.example")),
        ("192|0|2|1.example", format!("{a}|{b}|{c}|{d}.example")),
    ] {
        assert_eq!(kept(name), wanted);
    }
    // Nibbles of a prefix are no octets.
    let prefix = KEYS.contents.v6(0x2001_0DB8 << 96) >> 96;
    let nibbles = (0..8).map(|place| format!("{:x}.", prefix >> (4 * place) & 0xF));
    let wanted = format!("{}ip6.arpa.corp.example", nibbles.collect::<String>());
    assert_eq!(kept("8.b.d.0.1.0.0.2.ip6.arpa.corp.example"), wanted);
}

#[test]
fn no_number_stays_before_an_address() {
    let [a, b, c, d] = v4("192.0.2.1");
    for policy in [kept, pseudonym] {
        let mapped = policy("77.12.11.10.1.2.0.192.in-addr.arpa");
        let before = mapped.strip_suffix(&format!(".{d}.{c}.{b}.{a}.in-addr.arpa"));
        let before: Vec<&str> = before.unwrap().split('.').collect();
        assert_eq!(before.len(), 4);
        assert!(before[..3] != ["77", "12", "11"], "{mapped}");
    }
}

#[test]
fn labels_below_the_public_suffix_get_pseudonyms_of_their_length() {
    let name = "www.Example-Shop.co.uk";
    let mapped = pseudonym(name);
    let (labels, originals): (Vec<&str>, Vec<&str>) =
        (mapped.split('.').collect(), name.split('.').collect());
    assert_eq!(labels[2..], ["co", "uk"]);
    for place in [0, 1] {
        assert_eq!(labels[place].len(), originals[place].len());
        assert_ne!(labels[place], originals[place].to_lowercase());
    }
    assert_eq!(pseudonym("EXAMPLE-shop.co.uk"), labels[1..].join("."));
    assert_eq!(
        pseudonym("_443._tcp.www.example-shop.co.uk"),
        format!("_443._tcp.{mapped}")
    );
    assert_ne!(
        pseudonym("www.example.com").split('.').next(),
        pseudonym("www.example.org").split('.').next()
    );
    assert_ne!(pseudonym("johns-laptop"), "johns-laptop");
    for same in ["com", "co.uk", "", "arpa"] {
        assert_eq!(pseudonym(same), same);
    }
}

#[test]
fn no_label_becomes_a_public_suffix() {
    let all: HashSet<String> = (b'a'..=b'z')
        .flat_map(|a| (b'a'..=b'z').map(move |b| format!("{}{}.uk", char::from(a), char::from(b))))
        .collect();
    let mapped: HashSet<String> = all.iter().map(|name| pseudonym(name)).collect();
    assert_eq!(mapped.len(), all.len());
    assert!(mapped.contains("co.uk") && mapped.contains("ac.uk"));
    assert_eq!(pseudonym("co.uk"), "co.uk");
}

#[test]
fn asked_for_suffixes_stay() {
    let suffixes = KeptSuffixes::new(&["example.com".to_owned()]).unwrap();
    let mut mapper = NameMapper::new(NamePolicy::Pseudonyms, &KEYS, &suffixes);
    let mut pan = CachedPan::new(&KEYS.contents, &SEEN);
    let mut output = Vec::new();
    mapper.map(&wire("www.example.com"), &mut pan, &mut output);
    assert!(text(&output).ends_with(".example.com"));
    assert_eq!(text(&output).len(), "www.example.com".len());
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    let label = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..12),
        "[a-z0-9-]{1,8}".prop_map(String::into_bytes),
        "[0-9]{1,3}".prop_map(String::into_bytes),
        "[0-9a-f]".prop_map(String::into_bytes),
        "[0-9]{1,3}[/-][0-9]{1,3}".prop_map(String::into_bytes),
        "[0-9]{1,3}-[0-9]{1,3}-[0-9]{1,3}-[0-9]{1,3}".prop_map(String::into_bytes),
    ];
    let tail = prop_oneof![
        Just(""),
        Just("com"),
        Just("co.uk"),
        Just("in-addr.arpa"),
        Just("ip6.arpa"),
        Just("e164.arpa"),
        Just("2.0.192.in-addr.arpa"),
    ];
    (proptest::collection::vec(label, 0..10), tail).prop_map(|(labels, tail)| {
        let mut name = Vec::new();
        for label in labels {
            labels_of::push_label(&mut name, &label);
        }
        name.extend_from_slice(&wire(tail));
        name
    })
}

proptest! {
    #[test]
    fn names_stay_names_with_as_many_labels(name in any_name(), is_kept: bool) {
        prop_assume!(name.len() <= MAX_NAME_LEN);
        let policy = if is_kept { NamePolicy::Keep } else { NamePolicy::Pseudonyms };
        let mapped = mapped(policy, &name);
        prop_assume!(!mapped.is_empty());
        prop_assert!(mapped.len() <= MAX_NAME_LEN && mapped.last() == Some(&0));
        let (all, originals) = (crate::wire::labels(&mapped), crate::wire::labels(&name));
        prop_assert_eq!(all.count(), originals.count());
        prop_assert_eq!(mapped.len(), 1 + crate::wire::labels(&mapped).map(|label| label.len() + 1).sum::<usize>());
    }

    /// Where a name is below another, what stands for it is below what stands for the other; and names keep apart.
    #[test]
    fn pseudonyms_keep_the_tree(name in any_name(), other in any_name()) {
        prop_assume!(name.len() <= MAX_NAME_LEN && other.len() <= MAX_NAME_LEN);
        let mapped = |name: &[u8]| mapped(NamePolicy::Pseudonyms, name);
        let (whole, second) = (mapped(&name), mapped(&other));
        prop_assume!(!whole.is_empty() && !second.is_empty());
        prop_assert_eq!(whole.eq_ignore_ascii_case(&second), name.eq_ignore_ascii_case(&other));
        if let Some(first) = crate::wire::labels(&name).next() {
            let above = mapped(&name[first.len() + 1..]);
            prop_assert!(whole.eq_ignore_ascii_case(&[&whole[..=first_len(&whole)], &above].concat()));
        }
    }
}

fn first_len(name: &[u8]) -> usize {
    name[0].into()
}
