//! No port left, in a network namespace that has four.

#[path = "../../../../tests/common/small_namespace.rs"]
mod small_namespace;

use super::*;
use small_namespace::in_small_namespace;

#[test]
fn no_port_is_left() {
    in_small_namespace(|| {
        let listener = TcpListener::bind("127.0.0.1:53").unwrap();
        let server = listener.local_addr().unwrap();
        let run = |sources: &[&str], clients| {
            let sources: Vec<_> = sources
                .iter()
                .map(|source| source.parse().unwrap())
                .collect();
            let transport = Tcp::open(server, &sources, clients, &SessionSettings::default());
            let mut load = Driver::new(transport.unwrap());
            for client in 0..clients {
                load.ask(client, 1);
            }
            load.until(|load| {
                load.record.opened() + load.record.failed(Refusal::NoPort) == clients
            });
            (load.record.opened(), load.record.refusals.clone())
        };
        assert_eq!(run(&[], 6), (4, vec![Refusal::NoPort; 2]));
        assert_eq!(run(&["127.0.1.1"], 5), (4, vec![Refusal::NoPort]));
        let sources = ["127.0.2.1", "127.0.2.2", "127.0.2.3"];
        assert_eq!(
            run(&sources, 12),
            (12, vec![]),
            "ports are a matter of each source address"
        );
    });
}
