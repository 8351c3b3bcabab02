//! Serves master files on an address until interrupted: `cargo run --release --example serve -- 127.0.0.1:5300 example.zone...`
//!
//! With CERTIFICATE and KEY in the environment (PEM files) also DoT, DoH and DoQ, on free ports. ANSWERS=full fills answers;
//! THREADS is the number of threads for each transport.

use dnsrig_answer::{
    Answers, Certificate, Counters, Encrypted, Options, Responder, ServeConfig, SharedResponder,
    serve,
};
use dnsrig_zone::ReadZone;
use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let address = arguments
        .next()
        .ok_or("usage: serve ADDRESS:PORT ZONEFILE...")?;
    let zones = arguments
        .map(|path| Ok(Arc::new(ReadZone::from_file(Path::new(&path), None)?.zone)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let options = Options {
        answers: match env::var("ANSWERS").as_deref() {
            Ok("full") => Answers::Full,
            _ => Answers::Minimal,
        },
        ..Options::default()
    };
    let responder = SharedResponder::new(Responder::new(zones, options)?);
    let mut config = ServeConfig::new(address.parse()?);
    if let Ok(threads) = env::var("THREADS") {
        config.threads = threads.parse()?;
    }
    if let (Ok(chain), Ok(key)) = (env::var("CERTIFICATE"), env::var("KEY")) {
        let certificate = Certificate::from_pem_files(Path::new(&chain), Path::new(&key))?;
        config.encrypted = Some(Encrypted::on_free_ports(config.address.ip(), certificate));
    }
    let stop = AtomicBool::new(false);
    serve(
        &config,
        &responder,
        &Counters::default(),
        &stop,
        |addresses| {
            println!("UDP and TCP: {}", addresses.dns);
            let encrypted = [
                ("DoT", addresses.dot),
                ("DoH", addresses.doh),
                ("DoQ", addresses.doq),
            ];
            for (name, address) in encrypted {
                if let Some(address) = address {
                    println!("{name}: {address}");
                }
            }
        },
    )?;
    Ok(())
}
