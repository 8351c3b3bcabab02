use super::*;

/// A closed loop that the server limits.
fn closed() -> Figures {
    Figures {
        asked_qps: None,
        window: Some(100),
        sent: 1_000_000,
        answered: 1_000_000,
        timed_out: 0,
        refused: 0,
        generator_cpu_share: 0.4,
        blocked_share: 0.6,
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
        blocked_share: 0.0,
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
            blocked_share: 0.5,
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

#[test]
fn refusals_are_the_path() {
    assert_eq!(
        verdict(Figures {
            refused: 5_000,
            ..fixed()
        }),
        Bottleneck::Path
    );
    assert_eq!(
        verdict(Figures {
            refused: 500,
            ..fixed()
        }),
        Bottleneck::None
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
            blocked_share: 0.0,
            ..closed()
        }),
        Bottleneck::Unknown
    );
}
