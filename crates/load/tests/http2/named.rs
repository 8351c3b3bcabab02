//! BIND's DoH over clear TCP, which has HTTP/2 from nghttp2.

use super::{Event, Recorded, connection};
use dnsrig_load::{Http2, HttpMethod, Layer, Refusal};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = "/usr/sbin/named";

const DEADLINE: Duration = Duration::from_secs(30);

/// A running server; it ends when this goes.
struct Named {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Named {
    /// `None`, and a word about it, if it is not installed.
    fn start() -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            eprintln!("skipped: {PROGRAM} is missing; it is in the Debian package bind9");
            return None;
        }
        // Another process may take the port between its choice and the server's start, so try again.
        (0..5)
            .find_map(|_| Self::start_once())
            .or_else(|| panic!("named does not answer"))
    }

    fn start_once() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        fs::write(
            folder.path().join("config"),
            config(folder.path(), address.port()),
        )
        .unwrap();
        fs::write(folder.path().join("zone"), zone()).unwrap();
        let child = Command::new(PROGRAM)
            .args(["-4", "-f", "-g", "-n", "1", "-c"])
            .arg(folder.path().join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut named = Self {
            child,
            address,
            folder,
        };
        let deadline = Instant::now() + DEADLINE;
        while Instant::now() < deadline && matches!(named.child.try_wait(), Ok(None)) {
            if TcpStream::connect(address).is_ok() && named.serves_zone() {
                return Some(named);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let log = fs::read_to_string(named.folder.path().join("log"));
        eprintln!("{}", log.unwrap_or_default());
        None
    }

    /// It listens before it has loaded the zone.
    fn serves_zone(&self) -> bool {
        let mut http = connection(self.address, "/dns-query", HttpMethod::Post);
        let events = exchange(&mut http, self.address, &[query(1, &["a", "w"], 1)]);
        matches!(&events[..], [Event::Answer(answer)] if answer[3] & 0x0f == 0)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn config(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    format!(
        "options {{ directory \"{folder}\"; pid-file none; session-keyfile none; recursion no; dnssec-validation no; notify no;\n\
         listen-on port {port} tls none http local {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; http-streams-per-connection 60; }};\n\
         http local {{ endpoints {{ \"/dns-query\"; }}; }};\ncontrols {{ }};\n\
         zone \"example\" {{ type primary; file \"{folder}/zone\"; }};\n"
    )
}

/// A wildcard, and a name with 40,000 octets of TXT.
fn zone() -> String {
    let mut zone = String::from(
        "$TTL 300\n@ SOA ns h 1 3600 900 86400 300\n@ NS ns\nns A 192.0.2.1\n*.w A 192.0.2.2\n",
    );
    // BIND takes up to 100 records of a type at a name.
    for number in 0..80 {
        zone += &format!("large TXT \"{number:0250}\" \"{number:0250}\"\n");
    }
    zone
}

/// A query for a name below `example.`, its labels given, of a type.
fn query(id: u16, labels: &[&str], rtype: u8) -> Vec<u8> {
    let mut query = id.to_be_bytes().to_vec();
    query.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in labels.iter().chain(&["example"]) {
        query.push(label.len() as u8);
        query.extend_from_slice(label.as_bytes());
    }
    query.extend([0, 0, rtype, 0, 1]);
    query
}

/// Sends queries as room permits, and gives the events up to the end of all of them.
fn exchange(http: &mut Http2, address: SocketAddr, queries: &[Vec<u8>]) -> Vec<Event> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut waiting, mut recorded) = (queries.iter(), Recorded::default());
    let mut buffer = vec![0; 10_000];
    let mut ended = 0;
    while ended < queries.len() {
        while http.has_room()
            && let Some(query) = waiting.next()
        {
            http.queue(u16::from_be_bytes([query[0], query[1]]), query);
        }
        let outgoing = http.outgoing().unwrap();
        stream.write_all(outgoing.unwritten()).unwrap();
        let count = outgoing.unwritten().len();
        outgoing.wrote(count);
        let count = stream.read(&mut buffer).expect("an answer comes in time");
        assert!(count > 0, "the server keeps the connection");
        http.receive(&buffer[..count], &mut recorded).unwrap();
        let ends = |event: &&Event| matches!(event, Event::Answer(_) | Event::Refused(..));
        ended = recorded.0.iter().filter(ends).count();
    }
    recorded.0
}

#[test]
fn bind_answers() {
    let Some(named) = Named::start() else {
        return;
    };
    for method in [HttpMethod::Get, HttpMethod::Post] {
        let mut http = connection(named.address, "/dns-query", method);
        let names: Vec<_> = (0..2_000).map(|number| format!("q{number}")).collect();
        let queries: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(number, name)| match number % 100 {
                99 => query(number as u16, &["large"], 16),
                _ => query(number as u16, &[name, "w"], 1),
            })
            .collect();
        let events = exchange(&mut http, named.address, &queries);
        let mut is_answered = vec![false; queries.len()];
        for event in events {
            let Event::Answer(answer) = event else {
                panic!("{event:?} is no answer");
            };
            let number = usize::from(u16::from_be_bytes([answer[0], answer[1]]));
            assert_eq!(answer[3] & 0x0f, 0, "NOERROR");
            assert_eq!(answer[12..queries[number].len()], queries[number][12..]);
            assert_eq!(answer.len() > 40_000, number % 100 == 99);
            assert!(!std::mem::replace(&mut is_answered[number], true));
        }
        assert!(!http.is_inside_message());
    }
}

#[test]
fn bind_refuses_another_path() {
    let Some(named) = Named::start() else {
        return;
    };
    let mut http = connection(named.address, "/elsewhere", HttpMethod::Post);
    let events = exchange(&mut http, named.address, &[query(5, &["a", "w"], 1)]);
    let refused = Event::Refused(5, Refusal::HttpStatus);
    assert_eq!(events, [Event::HttpStatus(404), refused]);
}
