//! TSIG and cookies against dnspython, in both directions.

use dnsrig_load::answer::{Answer, QuestionMatch};
use dnsrig_load::dress::{
    CookieCheck, DressSettings, Dresser, Inspection, Sending, TsigAlgorithm, TsigCheck,
};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

const QUESTION: &[u8] = b"\x03www\x07example\x03com\0\0\x01\0\x01";

/// The program `tests/peers/tsig_server.py`.
struct Peer {
    process: Child,
    queries: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it with the first Python that has dnspython; `None` if there is none.
    fn start() -> Option<Self> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
        let pythons = environment
            .into_iter()
            .chain([root.join(".venv")])
            .map(|environment| environment.join("bin/python"))
            .chain([PathBuf::from("python3")]);
        for python in pythons {
            let has_dnspython = Command::new(&python)
                .args(["-c", "import dns.tsig"])
                .stderr(Stdio::null())
                .status();
            if !has_dnspython.is_ok_and(|status| status.success()) {
                continue;
            }
            let mut process = Command::new(&python)
                .arg(root.join("crates/load/tests/peers/tsig_server.py"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the interpreter has just run");
            let queries = process.stdin.take().expect("it is piped");
            let answers = BufReader::new(process.stdout.take().expect("it is piped"));
            return Some(Self {
                process,
                queries,
                answers,
            });
        }
        eprintln!("skipped: no Python with dnspython (Debian package python3-dnspython)");
        None
    }

    /// Answer and client cookie that it saw, or its error.
    fn ask(
        &mut self,
        algorithm: TsigAlgorithm,
        query: &[u8],
    ) -> Result<(Vec<u8>, Vec<u8>), String> {
        let hex: String = query.iter().map(|octet| format!("{octet:02x}")).collect();
        writeln!(self.queries, "{} {hex}", algorithm.name()).expect("the peer reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the peer writes");
        let (first, second) = line
            .trim_end_matches('\n')
            .split_once(' ')
            .expect("two words");
        if first == "error" {
            return Err(second.to_owned());
        }
        Ok((octets(first), octets(second)))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn octets(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|digits| {
            let digits = std::str::from_utf8(digits).expect("ASCII");
            u8::from_str_radix(digits, 16).expect("hexadecimal")
        })
        .collect()
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is past 1970").as_secs()
}

fn dresser(algorithm: TsigAlgorithm, secret: &str) -> Dresser {
    let key = format!("{}:KEY.example:{secret}", algorithm.name());
    let settings = DressSettings {
        cookies: true,
        randomise_case: true,
        tsig: Some(key.parse().expect("a key")),
        seed: 3,
    };
    Dresser::new(&settings, 4, 64).expect("it changes something")
}

fn query(additional: &[u8]) -> Vec<u8> {
    let header = [
        0,
        0,
        1,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        u8::from(!additional.is_empty()),
    ];
    [&header[..], QUESTION, additional].concat()
}

fn sending(number: u16) -> Sending {
    Sending {
        client: usize::from(number % 4),
        slot: u32::from(number % 64),
        id: number.wrapping_mul(40503),
        query: usize::from(number),
    }
}

fn inspect(dresser: &mut Dresser, sending: Sending, received: &[u8]) -> Inspection {
    let answer = Answer::new(received).expect("dnspython's answers parse");
    assert_eq!(answer.id(), sending.id);
    dresser.inspect(sending, (1, QUESTION), &answer, now_s())
}

#[test]
fn dnspython_and_dnsrig_verify_each_other() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let opt = [0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0];
    for algorithm in TsigAlgorithm::ALL {
        let mut dresser = dresser(algorithm, "c2VjcmV0");
        for number in 0..40 {
            let sending = sending(number);
            let message = query(if number % 2 == 0 { &opt } else { &[] });
            let sent = dresser.dress(sending, &message, now_s()).to_vec();
            let (received, client_cookie) = peer.ask(algorithm, &sent).expect("it verifies");
            assert_eq!(client_cookie.len(), 8);
            let inspection = inspect(&mut dresser, sending, &received);
            let first_of_client = number < 4;
            assert_eq!(
                inspection,
                Inspection {
                    question: QuestionMatch::Same,
                    tsig: Some(TsigCheck::Verified),
                    cookie: Some(if first_of_client {
                        CookieCheck::Learnt
                    } else {
                        CookieCheck::Known
                    }),
                }
            );
            let mut tampered = received;
            let place = 12 + QUESTION.len() + usize::from(number) % 16 + 12;
            tampered[place] ^= 1;
            if let Ok(answer) = Answer::new(&tampered) {
                let inspection = dresser.inspect(sending, (1, QUESTION), &answer, now_s());
                assert!(inspection.must_ignore(), "octet {place}");
            }
        }
    }
}

#[test]
fn dnspython_refuses_another_secret_and_another_time() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let algorithm = TsigAlgorithm::HmacSha256;
    let mut other = dresser(algorithm, "c2VjcmV1");
    let sent = other.dress(sending(1), &query(&[]), now_s()).to_vec();
    assert_eq!(peer.ask(algorithm, &sent), Err("BadSignature".to_owned()));
    let mut late = dresser(algorithm, "c2VjcmV0");
    let sent = late.dress(sending(1), &query(&[]), now_s() - 400).to_vec();
    assert_eq!(peer.ask(algorithm, &sent), Err("BadTime".to_owned()));
}
