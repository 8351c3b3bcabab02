//! Starting and stopping the real servers.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A running server; it ends when this goes.
pub struct Server {
    child: Child,
    connection: TcpStream,
}

/// What is started: NSD and Knot DNS answer minimally, BIND either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nsd,
    Knot,
    BindMinimal,
    BindFull,
}

impl Kind {
    pub fn program_and_package(self) -> (&'static str, &'static str) {
        match self {
            Self::Nsd => ("nsd", "nsd"),
            Self::Knot => ("knotd", "knot"),
            Self::BindMinimal | Self::BindFull => ("named", "bind9"),
        }
    }
}

impl Server {
    /// Starts a server for the zone `example.` in `zone`, with `folder` for everything it writes.
    pub fn start(kind: Kind, folder: &Path, zone: &Path) -> Self {
        let folder = folder.join(format!("{kind:?}"));
        fs::create_dir_all(&folder).expect("the folder is writable");
        // Another process may take the port between its choice and the server's start, so try again.
        for _ in 0..5 {
            let address = free_address();
            let mut command = command(kind, &folder, zone, address.port());
            let log = fs::File::create(folder.join("log")).expect("the log can be written");
            let errors = log.try_clone().expect("the log can be shared");
            let mut child = command
                .stdout(log)
                .stderr(errors)
                .stdin(Stdio::null())
                .spawn()
                .expect("the server starts");
            if let Some(connection) = wait_until_ready(&mut child, address) {
                return Self { child, connection };
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        panic!("{kind:?} does not answer:\n{log}");
    }

    /// Sends a query over TCP and returns the response.
    pub fn ask_tcp(&mut self, query: &[u8]) -> Vec<u8> {
        ask(&mut self.connection, query).expect("the server answers over TCP")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM, so that servers with child processes end those as well.
        // SAFETY: the process is our child and has not been waited for, so its id is its own.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> SocketAddr {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let address = udp.local_addr().expect("a bound socket has an address");
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

fn ask(connection: &mut TcpStream, query: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut framed = (query.len() as u16).to_be_bytes().to_vec();
    framed.extend_from_slice(query);
    connection.write_all(&framed)?;
    let mut length = [0; 2];
    connection.read_exact(&mut length)?;
    let mut response = vec![0; usize::from(u16::from_be_bytes(length))];
    connection.read_exact(&mut response)?;
    Ok(response)
}

fn wait_until_ready(child: &mut Child, address: SocketAddr) -> Option<TcpStream> {
    let query = super::questions::query("example.", domain::base::Rtype::SOA, None);
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(20));
        let Ok(mut connection) = TcpStream::connect(address) else {
            continue;
        };
        let _ = connection.set_read_timeout(Some(Duration::from_secs(5)));
        match ask(&mut connection, &query) {
            Ok(response) if response[3] & 0x0f == 0 && response[7] == 1 => return Some(connection),
            _ => {}
        }
    }
    None
}

fn command(kind: Kind, folder: &Path, zone: &Path, port: u16) -> Command {
    let config = folder.join("config");
    let (folder, zone) = (folder.display(), zone.display());
    let text = match kind {
        Kind::Nsd => format!(
            "server:\n ip-address: 127.0.0.1@{port}\n zonesdir: \"{folder}\"\n username: \"\"\n database: \"\"\n \
             pidfile: \"{folder}/pid\"\n zonelistfile: \"{folder}/zonelist\"\n xfrdfile: \"{folder}/xfrd\"\n \
             xfrdir: \"{folder}\"\n rrl-ratelimit: 0\n minimal-responses: yes\n tcp-timeout: 600\n tcp-query-count: 0\n \
             round-robin: no\nremote-control:\n control-enable: no\n\
             zone:\n name: example.\n zonefile: \"{zone}\"\n provide-xfr: 127.0.0.1 NOKEY\n"
        ),
        Kind::Knot => format!(
            "server:\n listen: 127.0.0.1@{port}\n rundir: {folder}\n tcp-idle-timeout: 600\n\
             database:\n storage: {folder}\nlog:\n - target: stderr\n   any: info\n\
             zone:\n - domain: example.\n   file: {zone}\n   zonefile-sync: -1\n   journal-content: none\n   semantic-checks: off\n"
        ),
        Kind::BindMinimal | Kind::BindFull => format!(
            "options {{ directory \"{folder}\"; pid-file none; session-keyfile none; listen-on port {port} {{ 127.0.0.1; }}; \
             listen-on-v6 {{ none; }}; recursion no; zero-no-soa-ttl no; minimal-responses {minimal}; notify no; tcp-idle-timeout 1200; \
             tcp-initial-timeout 1200; allow-transfer {{ any; }}; managed-keys-directory \"{folder}\"; rrset-order {{ order none; }}; }};\n\
             controls {{ }};\nzone \"example\" {{ type primary; file \"{zone}\"; check-integrity no; check-names ignore; }};\n",
            minimal = if kind == Kind::BindMinimal {
                "yes"
            } else {
                "no"
            },
        ),
    };
    fs::write(&config, text).expect("the configuration can be written");
    let mut command = match kind {
        Kind::Nsd => Command::new("/usr/sbin/nsd"),
        Kind::Knot => Command::new("/usr/sbin/knotd"),
        Kind::BindMinimal | Kind::BindFull => Command::new("/usr/sbin/named"),
    };
    match kind {
        Kind::Nsd => command.arg("-d").arg("-c").arg(config),
        Kind::Knot => command.arg("-c").arg(config),
        Kind::BindMinimal | Kind::BindFull => command.args(["-g", "-n", "1", "-c"]).arg(config),
    };
    command
}
