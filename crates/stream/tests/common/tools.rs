//! Programs that tests use where they are installed, and a server that answers them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than anything here takes on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Whether `program` is there; says so if it is not.
pub fn has(program: &str, package: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("skipped: no {program}; install the Debian package {package}");
    }
    found
}

/// Runs a program to its end; returns what it wrote.
pub fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Answers every query over UDP with the query and QR=1, and passes the queries on.
pub fn udp_responder() -> (SocketAddr, Receiver<Vec<u8>>) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_535];
        while let Ok((len, client)) = socket.recv_from(&mut buffer) {
            if sender.send(buffer[..len].to_vec()).is_err() {
                return;
            }
            buffer[2] |= 0x80;
            let _ = socket.send_to(&buffer[..len], client);
        }
    });
    (address, receiver)
}

/// Answers every query over TCP at `address` with the query and QR=1.
pub fn tcp_responder(address: SocketAddr) -> std::io::Result<()> {
    let listener = TcpListener::bind(address)?;
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            std::thread::spawn(move || -> std::io::Result<()> {
                loop {
                    let mut len = [0; 2];
                    connection.read_exact(&mut len)?;
                    let mut frame = vec![0; 2 + usize::from(u16::from_be_bytes(len))];
                    frame[..2].copy_from_slice(&len);
                    connection.read_exact(&mut frame[2..])?;
                    frame[4] |= 0x80;
                    connection.write_all(&frame)?;
                }
            });
        }
    });
    Ok(())
}
