use super::*;
use std::fs;

fn client(text: &str) -> Client {
    Client::Address(text.parse().unwrap())
}

fn some() -> AskedQueries {
    let mut asked = AskedQueries::default();
    for (line, time_ns, address) in [
        (
            "a.test. A edns=1232 do=1 option=10:01",
            1_000_000_000,
            "10.0.0.2",
        ),
        ("4.3.2.1.in-addr.arpa. PTR rd=0", 1_000_000_001, "10.0.0.1"),
        ("b.test. TYPE65 edns=512", 2_999_999_999, "2001:db8::1"),
        ("a.test. MX", 3_000_000_000, "10.0.0.2"),
    ] {
        asked.push_line(line, time_ns, client(address)).unwrap();
    }
    asked
}

fn written(asked: &AskedQueries, part: &Part<'_>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.txt");
    let names: [(&[u8], u16); 3] = [(b"x.net.", 16), (b"1.arpa.", 12), (b"y.org.", 2)];
    let running = AtomicBool::new(false);
    let count = asked
        .write(&path, part, |number| names[number as usize], &running)
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count() as u64, count);
    text
}

#[test]
fn clients_names_and_times_are_known() {
    let asked = some();
    assert_eq!(
        (asked.len(), asked.client_count(), asked.name_count()),
        (4, 3, 3)
    );
    assert_eq!(
        asked.are_addresses().collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(asked.span_ns(), 2_000_000_000);
    assert_eq!(asked.count_before(2_000_000_000), 3);
    assert_eq!(asked.count_before(0), 0);
    let none = AskedQueries::default();
    assert_eq!(
        (none.is_empty(), none.span_ns(), none.count_before(9)),
        (true, 0, 0)
    );
}

#[test]
fn parts_have_other_names_and_types_but_for_those_that_are_kept() {
    let asked = some();
    let all = Part {
        span_ns: 0..u64::MAX,
        kept: None,
    };
    assert_eq!(
        written(&asked, &all),
        "x.net. A edns=1232 do=1 time=0.000000000 client=10.0.0.2\n\
         1.arpa. PTR time=0.000000001 client=10.0.0.1\n\
         y.org. HTTPS edns=512 time=1.999999999 client=2001:db8::1\n\
         x.net. TXT time=2.000000000 client=10.0.0.2\n"
    );
    let second = Part {
        span_ns: 1_000_000_000..2_000_000_000,
        kept: None,
    };
    assert_eq!(
        written(&asked, &second),
        "y.org. HTTPS edns=512 time=0.999999999 client=2001:db8::1\n"
    );
    let one_client = Part {
        span_ns: 0..u64::MAX,
        kept: Some(&[0, 1, 0]),
    };
    assert_eq!(
        written(&asked, &one_client),
        "1.arpa. PTR time=0.000000001 client=10.0.0.1\n"
    );
}

#[test]
fn whoever_asks_it_to_stop_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let all = Part {
        span_ns: 0..u64::MAX,
        kept: None,
    };
    let stopped = AtomicBool::new(true);
    let error = some()
        .write(&folder.path().join("q"), &all, |_| (b"a.", 1), &stopped)
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
}
