use super::*;

/// A closed loop that the server limits.
fn closed() -> Figures {
    Figures {
        are_of_sessions: false,
        not_tried: 0,
        asked_qps: None,
        window: Some(100),
        sent: 1_000_000,
        answered: 1_000_000,
        timed_out: 0,
        refusals: [0; Refusal::ALL.len()],
        generator_cpu_share: 0.4,
        generator_run_delay_share: 0.0,
        full_share: 0.6,
        empty_share: Some(0.1),
        latency_mean_ns: 200_000,
        latency_least_ns: 15_000,
        send_error_p99_ns: 90_000,
        socket_drops: 0,
        udp_drops_elsewhere: 0,
        server_cpu_share: None,
    }
}

/// A fixed rate that is met.
fn fixed() -> Figures {
    Figures {
        asked_qps: Some(50_000.0),
        window: None,
        full_share: 0.0,
        empty_share: None,
        ..closed()
    }
}

fn verdict(figures: Figures) -> Bottleneck {
    let verdict = judge(&figures);
    assert!(
        verdict.evidence[0].contains(|c: char| c.is_ascii_digit())
            || verdict.bottleneck == Bottleneck::Unknown
    );
    verdict.bottleneck
}

#[test]
fn a_full_window_beside_an_idle_generator_is_the_server() {
    assert_eq!(verdict(closed()), Bottleneck::Server);
    assert_eq!(
        verdict(Figures {
            server_cpu_share: Some(0.99),
            ..closed()
        }),
        Bottleneck::Server
    );
    assert_eq!(
        verdict(Figures {
            server_cpu_share: Some(0.1),
            ..closed()
        }),
        Bottleneck::Unknown
    );
}

#[test]
fn a_full_window_without_queueing_tells_nothing() {
    for figures in [
        // A long way: each query takes as long as any other.
        Figures {
            latency_mean_ns: 50_400_000,
            latency_least_ns: 50_000_000,
            ..closed()
        },
        // One query at a time cannot queue, however latency varies.
        Figures {
            window: Some(1),
            ..closed()
        },
        Figures {
            generator_cpu_share: 0.9,
            ..closed()
        },
        Figures {
            generator_run_delay_share: 0.5,
            ..closed()
        },
    ] {
        assert_eq!(verdict(figures), Bottleneck::Unknown);
    }
}

#[test]
fn a_generator_kept_from_its_cpu_is_the_generator() {
    assert_eq!(
        verdict(Figures {
            generator_run_delay_share: 0.56,
            server_cpu_share: Some(0.99),
            ..closed()
        }),
        Bottleneck::Generator
    );
}

#[test]
fn a_generator_that_leaves_places_empty_is_the_generator() {
    assert_eq!(
        verdict(Figures {
            full_share: 0.0,
            empty_share: Some(0.8),
            ..closed()
        }),
        Bottleneck::Generator
    );
}

#[test]
fn a_busy_server_is_the_server_unless_it_does_what_was_asked() {
    let busy = Some(0.95);
    assert_eq!(
        verdict(Figures {
            full_share: 0.0,
            server_cpu_share: busy,
            ..closed()
        }),
        Bottleneck::Server
    );
    assert_eq!(
        verdict(Figures {
            latency_least_ns: 190_000,
            server_cpu_share: busy,
            ..closed()
        }),
        Bottleneck::Server
    );
    assert_eq!(
        verdict(Figures {
            server_cpu_share: busy,
            ..fixed()
        }),
        Bottleneck::None
    );
}

#[test]
fn a_busy_generator_is_the_generator() {
    assert_eq!(
        verdict(Figures {
            generator_cpu_share: 0.97,
            ..closed()
        }),
        Bottleneck::Generator
    );
    assert_eq!(
        verdict(Figures {
            generator_cpu_share: 0.97,
            ..fixed()
        }),
        Bottleneck::Generator
    );
    assert_eq!(
        verdict(Figures {
            socket_drops: 2_000,
            ..fixed()
        }),
        Bottleneck::Generator
    );
}

#[test]
fn late_sending_is_the_generator_unless_it_was_held_back() {
    let late = Figures {
        send_error_p99_ns: 5_000_000,
        ..fixed()
    };
    assert_eq!(verdict(late.clone()), Bottleneck::Generator);
    assert_eq!(
        verdict(Figures {
            full_share: 0.5,
            ..late.clone()
        }),
        Bottleneck::Server
    );
    assert_eq!(
        verdict(Figures {
            asked_qps: Some(1.0),
            ..late
        }),
        Bottleneck::None
    );
}

/// A fixed rate of which so many queries were refused, by cause.
fn refused(causes: &[(Refusal, u64)]) -> Figures {
    let mut figures = fixed();
    for (refusal, count) in causes {
        figures.refusals[*refusal as usize] = *count;
        figures.answered -= count;
    }
    figures
}

#[test]
fn refusals_name_whose_doing_most_of_them_are() {
    use Refusal::*;
    let verdict = |causes: &[_]| verdict(refused(causes));
    assert_eq!(
        verdict(&[(ConnectionLost, 5_000), (Unreachable, 10)]),
        Bottleneck::Server
    );
    assert_eq!(
        verdict(&[(ConnectionLost, 10), (Unreachable, 5_000)]),
        Bottleneck::Path
    );
    assert_eq!(
        verdict(&[(ConnectFailed, 10), (NoPort, 3_000), (NoFile, 3_000)]),
        Bottleneck::Generator
    );
    assert_eq!(verdict(&[(NoPlace, 975_000)]), Bottleneck::Unknown);
    assert_eq!(
        verdict(&[(ConnectionLost, 250), (Unreachable, 250)]),
        Bottleneck::None
    );
}

#[test]
fn no_cause_of_refusals_is_overlooked() {
    for refusal in Refusal::ALL {
        let verdict = judge(&refused(&[(refusal, 1_001)]));
        assert_ne!(verdict.bottleneck, Bottleneck::None, "{}", refusal.name());
        let sentence = &verdict.evidence[0];
        assert!(
            sentence.contains(refusal.name()) && sentence.contains("1001"),
            "{sentence}"
        );
    }
}

#[test]
fn evidence_names_the_largest_cause() {
    use Refusal::*;
    let verdict = judge(&refused(&[
        (HttpContent, 2_000),
        (HttpStatus, 900_000),
        (NoPort, 1),
    ]));
    assert_eq!(
        verdict.evidence[0],
        "902001 of 1000000 queries (90 %) were refused, 900000 of them as http_status: an HTTP status other than 200"
    );
}

#[test]
fn losses_need_an_explanation() {
    let lossy = Figures {
        timed_out: 10_000,
        answered: 990_000,
        ..fixed()
    };
    assert_eq!(verdict(lossy.clone()), Bottleneck::Unknown);
    assert_eq!(
        verdict(Figures {
            server_cpu_share: Some(0.95),
            ..lossy.clone()
        }),
        Bottleneck::Server
    );
    assert_eq!(
        verdict(Figures {
            server_cpu_share: Some(0.2),
            ..lossy.clone()
        }),
        Bottleneck::Path
    );
    assert_eq!(
        verdict(Figures {
            server_cpu_share: Some(0.2),
            udp_drops_elsewhere: 9_000,
            ..lossy.clone()
        }),
        Bottleneck::Unknown
    );
    assert_eq!(
        verdict(Figures {
            udp_drops_elsewhere: 9_000,
            ..lossy
        }),
        Bottleneck::Server
    );
}

#[test]
fn a_rate_that_is_met_has_no_bottleneck() {
    assert_eq!(verdict(fixed()), Bottleneck::None);
    assert_eq!(
        verdict(Figures {
            full_share: 0.0,
            ..closed()
        }),
        Bottleneck::Unknown
    );
}
