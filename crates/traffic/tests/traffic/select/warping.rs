use super::captures::{Folder, SECOND, START, Sent, read, traffic, with_reading};
use dnsrig_traffic::select::{Warped, Warping, warp};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const AS_IT_WAS: Warping = Warping {
    speed: 1.0,
    start_ns: None,
    shift_ns: 0,
    loops: 1,
    same_names: false,
};

fn warped(input: &Path, warping: Warping, output: &Path) -> Warped {
    let files: [PathBuf; 1] = [input.to_owned()];
    with_reading(&files, 2, |reading| warp(reading, &warping, output)).unwrap()
}

#[test]
fn only_times_change() {
    let folder = Folder::new();
    let sent = traffic();
    let input = folder.capture("all.pcap", &sent);
    let output = folder.path("warped.pcap");
    let first = sent[0].time_ns;
    for (warping, time_ns) in [
        (AS_IT_WAS, &(|time_ns| time_ns) as &dyn Fn(i64) -> i64),
        (
            Warping {
                shift_ns: -7 * SECOND,
                ..AS_IT_WAS
            },
            &|time_ns| time_ns - 7 * SECOND,
        ),
        (
            Warping {
                speed: 2.0,
                ..AS_IT_WAS
            },
            &|time_ns| first + (time_ns - first) / 2,
        ),
        (
            Warping {
                speed: 0.5,
                start_ns: Some(5 * SECOND),
                shift_ns: 1,
                ..AS_IT_WAS
            },
            &|time_ns| 5 * SECOND + 1 + (time_ns - first) * 2,
        ),
    ] {
        warped(&input, warping, &output);
        let expected: Vec<Sent> = sent
            .iter()
            .map(|sent| Sent {
                time_ns: time_ns(sent.time_ns),
                ..sent.clone()
            })
            .collect();
        assert!(read(&output) == expected, "{warping:?}");
    }
}

#[test]
fn loops_follow_one_another_and_ask_for_new_names() {
    let folder = Folder::new();
    let sent = traffic();
    let input = folder.capture("all.pcap", &sent);
    let output = folder.path("looped.pcap");
    let done = warped(
        &input,
        Warping {
            loops: 3,
            speed: 4.0,
            ..AS_IT_WAS
        },
        &output,
    );
    let Warped::Loops {
        not_renamed,
        answers_left_out,
        written,
        ..
    } = done
    else {
        panic!("{done:?}");
    };
    assert_eq!((not_renamed, answers_left_out), (0, 600));
    assert_eq!(written.messages_written, 600);
    let found = read(&output);
    assert!(found.is_sorted_by_key(|sent| sent.time_ns));
    let queries: Vec<&Sent> = sent
        .iter()
        .filter(|sent| sent.octets[2] & 0x80 == 0)
        .collect();
    let names: Vec<BTreeSet<String>> = found
        .chunks(200)
        .map(|round| round.iter().map(Sent::name).collect())
        .collect();
    assert!(
        names[0].is_disjoint(&names[1])
            && names[1].is_disjoint(&names[2])
            && names[0].is_disjoint(&names[2])
    );
    for (number, round) in found.chunks(200).enumerate() {
        for (query, found) in queries.iter().zip(round) {
            let label = if number == 0 {
                String::new()
            } else {
                format!("loop{}.", number + 1)
            };
            assert_eq!(found.name(), label + &query.name());
            assert_eq!(found.source, query.source);
        }
    }
    // 199 ms at four times the speed, and a gap.
    let begins = found[200].time_ns - START;
    assert!(
        (199 * 250_000..=200 * 250_000 + 1_000_000).contains(&begins),
        "{begins}"
    );
}

#[test]
fn the_same_names_have_their_answers() {
    let folder = Folder::new();
    let sent = traffic();
    let input = folder.capture("all.pcap", &sent);
    let output = folder.path("looped.pcap");
    warped(
        &input,
        Warping {
            loops: 2,
            same_names: true,
            ..AS_IT_WAS
        },
        &output,
    );
    let found = read(&output);
    assert_eq!(found.len(), 2 * sent.len());
    let octets = |sent: &[Sent]| {
        sent.iter()
            .map(|sent| sent.octets.clone())
            .collect::<Vec<_>>()
    };
    assert!(octets(&found[..sent.len()]) == octets(&sent));
    assert!(octets(&found[sent.len()..]) == octets(&sent));
}

#[test]
fn loops_without_a_query_are_refused_and_leave_nothing() {
    let folder = Folder::new();
    let answers: Vec<Sent> = traffic()
        .into_iter()
        .filter(|sent| sent.octets[2] & 0x80 != 0)
        .collect();
    let files = [folder.capture("answers.pcap", &answers)];
    let warping = Warping {
        loops: 3,
        ..AS_IT_WAS
    };
    let output = folder.path("warped.pcap");
    let error = with_reading(&files, 2, |reading| warp(reading, &warping, &output)).unwrap_err();
    let (error, all) = (error.to_string(), answers.len());
    let expected = format!("{all} messages, of which {all} answers");
    assert!(error.contains(&expected), "{error}");
    assert_eq!(folder.files(), ["answers.pcap"]);
}

#[test]
fn loops_that_no_file_can_hold_are_refused_after_the_first() {
    let folder = Folder::new();
    let files = [folder.capture("all.pcap", &traffic())];
    let warping = Warping {
        speed: 1e-6,
        loops: u32::MAX,
        ..AS_IT_WAS
    };
    let output = folder.path("warped.pcap");
    let error = with_reading(&files, 2, |reading| warp(reading, &warping, &output)).unwrap_err();
    assert!(error.to_string().contains("fewer --loops"), "{error}");
    assert_eq!(folder.files(), ["all.pcap"]);
}
