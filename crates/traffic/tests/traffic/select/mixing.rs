use super::captures::{Folder, Sent, read, traffic, with_reading};
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::select::{Form, Mixed, Mixing, StandIns, mix};
use std::fs;
use std::path::{Path, PathBuf};

fn mixing(other: Form, augment: f64, substitute: f64) -> Mixing {
    Mixing {
        base: Form::Capture,
        other,
        to: Form::Capture,
        augment,
        substitute,
        seed: 1,
        stand_ins: StandIns::default(),
    }
}

fn mixed(base: &Path, other: &Path, mixing: &Mixing, output: &Path) -> Result<Mixed, TrafficError> {
    let (base, other): ([PathBuf; 1], [PathBuf; 1]) = ([base.to_owned()], [other.to_owned()]);
    with_reading(&base, 1, |base| {
        with_reading(&other, 1, |other| mix(base, other, mixing, output))
    })
}

fn queries() -> Vec<Sent> {
    traffic()
        .into_iter()
        .filter(|sent| sent.octets[2] & 0x80 == 0)
        .collect()
}

/// Seven queries for names that nobody else asks for.
fn others(folder: &Folder) -> PathBuf {
    let sent: Vec<Sent> = (0..7)
        .map(|number| Sent::query(number, 99, &format!("o{number}.other"), 16))
        .collect();
    folder.capture("other.pcap", &sent)
}

#[test]
fn added_queries_come_in_their_order_and_over_again() {
    let folder = Folder::new();
    let (base, other) = (folder.capture("base.pcap", &traffic()), others(&folder));
    let output = folder.path("mixed.pcap");
    let done = mixed(&base, &other, &mixing(Form::Capture, 0.25, 0.0), &output).unwrap();
    assert_eq!(
        (done.base_queries, done.base_answers, done.substituted),
        (200, 200, 0)
    );
    assert!((35..=65).contains(&done.added), "{}", done.added);
    let (added, own): (Vec<Sent>, Vec<Sent>) = read(&output)
        .into_iter()
        .partition(|sent| sent.name().ends_with(".other."));
    assert!(own == queries());
    for (number, one) in added.iter().enumerate() {
        assert_eq!(one.name(), format!("o{}.other.", number % 7));
        assert_eq!(one.source.address.to_string(), "10.0.0.99");
    }
    assert_eq!(done.times_read, added.len().div_ceil(7) as u64);
}

#[test]
fn substituted_queries_keep_time_client_and_id() {
    let folder = Folder::new();
    let base = folder.capture("base.pcap", &traffic());
    let text = folder.path("other.txt");
    fs::write(&text, "x.other TXT edns=1232 do=1\ny.other A\n").unwrap();
    let output = folder.path("mixed.pcap");
    let done = mixed(&base, &text, &mixing(Form::Text, 0.0, 0.5), &output).unwrap();
    let (found, queries) = (read(&output), queries());
    assert_eq!((found.len(), done.added), (200, 0));
    let mut substituted = 0;
    for (found, query) in found.iter().zip(&queries) {
        assert_eq!(
            (found.time_ns, found.source, found.transport),
            (query.time_ns, query.source, query.transport)
        );
        assert_eq!(found.octets[..2], query.octets[..2]);
        if found != query {
            let expected = ["x.other.", "y.other."][substituted % 2];
            assert_eq!(found.name(), expected);
            substituted += 1;
        }
    }
    assert_eq!(done.substituted, substituted as u64);
    assert!((70..=130).contains(&substituted), "{substituted}");
}

#[test]
fn both_at_once_and_everything_replaced() {
    let folder = Folder::new();
    let (base, other) = (folder.capture("base.pcap", &traffic()), others(&folder));
    let output = folder.path("mixed.pcap");
    let done = mixed(&base, &other, &mixing(Form::Capture, 2.0, 1.0), &output).unwrap();
    assert_eq!((done.substituted, done.added), (200, 400));
    assert!(
        read(&output)
            .iter()
            .all(|sent| sent.name().ends_with(".other."))
    );
}

#[test]
fn the_seed_decides() {
    let folder = Folder::new();
    let (base, other) = (folder.capture("base.pcap", &traffic()), others(&folder));
    let [a, b, c] = [1, 1, 2].map(|seed| {
        let output = folder.path("mixed.pcap");
        let mixing = Mixing {
            seed,
            ..mixing(Form::Capture, 0.3, 0.3)
        };
        mixed(&base, &other, &mixing, &output).unwrap();
        fs::read(&output).unwrap()
    });
    assert!(a == b && a != c);
}

#[test]
fn what_cannot_be_mixed_is_refused_and_leaves_nothing() {
    let folder = Folder::new();
    let (base, other) = (folder.capture("base.pcap", &traffic()), others(&folder));
    let answers: Vec<Sent> = traffic()
        .into_iter()
        .filter(|sent| sent.octets[2] & 0x80 != 0)
        .collect();
    let answers = folder.capture("answers.pcap", &answers);
    let output = folder.path("mixed.pcap");
    for (other, mixing, expected) in [
        (
            &other,
            mixing(Form::Capture, 0.0, 0.0),
            "nothing is to be added",
        ),
        (
            &other,
            mixing(Form::Capture, -1.0, 0.0),
            "-1 is not a number of queries",
        ),
        (
            &other,
            mixing(Form::Capture, f64::NAN, 0.0),
            "NaN is not a number of queries",
        ),
        (
            &other,
            mixing(Form::Capture, 0.0, 1.5),
            "1.5 is not a share",
        ),
        (&answers, mixing(Form::Capture, 0.5, 0.0), "has no query"),
        (
            &folder.path("none.pcap"),
            mixing(Form::Capture, 0.5, 0.0),
            "none.pcap",
        ),
    ] {
        let error = mixed(&base, other, &mixing, &output)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = mixed(&answers, &other, &mixing(Form::Capture, 0.5, 0.0), &output).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("answers.pcap: no query to be written"),
        "{error}"
    );
    assert_eq!(folder.files(), ["answers.pcap", "base.pcap", "other.pcap"]);
}
