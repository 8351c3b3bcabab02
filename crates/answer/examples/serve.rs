//! Serves master files on an address until interrupted: `cargo run --release --example serve -- 127.0.0.1:5300 example.zone...`

use dnsrig_answer::{Answers, Counters, Options, Responder, ServeConfig, SharedResponder, serve};
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
    let config = ServeConfig::new(address.parse()?);
    let stop = AtomicBool::new(false);
    serve(
        &config,
        &responder,
        &Counters::default(),
        &stop,
        |address| println!("serving on {address}"),
    )?;
    Ok(())
}
