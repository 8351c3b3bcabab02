use super::captures::{Folder, SECOND, Sent, read, traffic, with_reading};
use dnsrig_traffic::Transport;
use dnsrig_traffic::select::clients::Share;
use dnsrig_traffic::select::{SampleSize, Sampled, Sampling, sample};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Queries of 600 clients over 10 s, of which some ask more often, a few by TCP.
fn queries(name: &str) -> Vec<Sent> {
    let mut sent = Vec::new();
    for number in 0..6_000_i64 {
        let client = (number * number % 600) as u32;
        let transport = if number % 50 == 0 {
            Transport::Tcp
        } else {
            Transport::Udp
        };
        let name = format!("n{}.{name}", number % 700);
        let query = Sent::query(number * SECOND / 600, client, &name, 1).by(transport);
        sent.extend([query.clone(), query.answer(0)]);
    }
    sent
}

fn sampled(input: &Path, size: SampleSize, key: u64, output: &Path) -> Sampled {
    let files: [PathBuf; 1] = [input.to_owned()];
    with_reading(&files, 2, |reading| {
        sample(reading, &Sampling { size, key }, output)
    })
    .unwrap()
}

fn clients(sent: &[Sent]) -> BTreeSet<IpAddr> {
    let queries = sent.iter().filter(|sent| sent.octets[2] & 0x80 == 0);
    queries.map(|sent| sent.source.address).collect()
}

fn share(value: f64) -> SampleSize {
    SampleSize::Clients(Share::new(value).unwrap())
}

#[test]
fn samples_are_nested_and_the_same_in_every_file() {
    let folder = Folder::new();
    let (first, second) = (queries("example"), queries("test"));
    let inputs = [
        folder.capture("first.pcap", &first),
        folder.capture("second.pcap", &second),
    ];
    let mut before = BTreeSet::new();
    for value in [0.1, 0.3, 1.0] {
        let output = folder.path("sample.pcap");
        let mut chosen = Vec::new();
        for (input, all) in inputs.iter().zip([&first, &second]) {
            sampled(input, share(value), 0, &output);
            let found = read(&output);
            let now = clients(&found);
            // All or nothing of a client.
            let expected: Vec<Sent> = all
                .iter()
                .filter(|sent| {
                    now.contains(&sent.source.address) || now.contains(&sent.destination.address)
                })
                .cloned()
                .collect();
            let mut found = found;
            let mut expected = expected;
            found.sort();
            expected.sort();
            assert!(found == expected);
            chosen.push(now);
        }
        assert_eq!(chosen[0], chosen[1]);
        assert!(chosen[0].is_superset(&before) && chosen[0].len() > before.len());
        before = chosen.swap_remove(0);
    }
    assert_eq!(before.len(), clients(&first).len());
}

#[test]
fn another_key_gives_other_clients() {
    let folder = Folder::new();
    let input = folder.capture("all.pcap", &queries("example"));
    let [a, b] = [1, 2].map(|key| {
        let output = folder.path("sample.pcap");
        sampled(&input, share(0.2), key, &output);
        clients(&read(&output))
    });
    assert_ne!(a, b);
}

#[test]
fn what_is_said_of_a_sample_is_so() {
    let folder = Folder::new();
    let sent = queries("example");
    let input = folder.capture("all.pcap", &sent);
    let output = folder.path("sample.pcap");
    let said = sampled(&input, share(0.2), 0, &output);
    let found = read(&output);
    let count = |sent: &[Sent]| {
        sent.iter()
            .filter(|sent| sent.octets[2] & 0x80 == 0)
            .count() as u64
    };
    assert_eq!(
        (said.whole.queries, said.sample.queries),
        (count(&sent), count(&found))
    );
    let is_near = |said: u64, is: usize| said.abs_diff(is as u64) as f64 <= 0.04 * is as f64 + 1.0;
    assert!(is_near(said.whole.clients, clients(&sent).len()));
    assert!(is_near(said.sample.clients, clients(&found).len()));
    let names = |sent: &[Sent]| sent.iter().map(Sent::name).collect::<BTreeSet<_>>().len();
    assert!(is_near(said.whole.questions, names(&sent)));
    assert!(is_near(said.sample.questions, names(&found)));
    assert!(said.sample.cold_miss_share > said.whole.cold_miss_share);
    let seconds = 5_999.0 / 600.0;
    assert!((said.seconds - seconds).abs() < 1e-6);
    assert!((said.whole.mean_qps - 6_000.0 / seconds).abs() < 1e-6);
}

#[test]
fn a_rate_is_searched_for_and_can_be_asked_for_again() {
    let folder = Folder::new();
    let input = folder.capture("all.pcap", &queries("example"));
    let output = folder.path("sample.pcap");
    let found = sampled(&input, SampleSize::Rate(150.0), 3, &output);
    assert!((found.sample.mean_qps - 150.0).abs() < 3.0, "{found:?}");
    let again = sampled(&input, share(found.clients_asked), found.key, &output);
    assert_eq!(again.sample, found.sample);
    let more = sampled(&input, SampleSize::Rate(1e6), 3, &output);
    assert_eq!(more.sample, more.whole);
    let size = SampleSize::ClientsAtRate(Share::new(0.3).unwrap(), 180.0);
    let keyed = sampled(&input, size, 0, &output);
    assert!((keyed.clients_asked - 0.3).abs() < 1e-12);
    assert!((keyed.sample.mean_qps - 180.0).abs() < 10.0, "{keyed:?}");
}

#[test]
fn one_moment_has_no_rate() {
    let folder = Folder::new();
    let files = [folder.capture("one.pcap", &traffic()[..1])];
    let sampling = Sampling {
        size: SampleSize::Rate(5.0),
        key: 0,
    };
    let output = folder.path("out.pcap");
    let error = with_reading(&files, 1, |reading| sample(reading, &sampling, &output)).unwrap_err();
    assert!(error.to_string().contains("no two times"), "{error}");
}
