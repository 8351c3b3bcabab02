//! scratch
use dnsrig_sign::zonefile::*;
use dnsrig_sign::*;
use dnsrig_zone::flow::Opening;
use dnsrig_zone::pool::Pool;
use std::num::NonZeroUsize;
use std::path::Path;
fn main() {
    // threads alg bits chain in out
    let a: Vec<String> = std::env::args().collect();
    let threads = NonZeroUsize::new(a[1].parse().unwrap()).unwrap();
    let pool = Pool::new(threads);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs() as u32;
    if a[2] == "verify" {
        let o = Opening::new(Path::new(&a[3]), None);
        let v = dnsrig_sign::verify::verify_file(
            &o,
            &pool,
            &dnsrig_sign::verify::Verification {
                now,
                faults_max: 10,
                ..Default::default()
            },
        );
        match v {
            Ok(v) => {
                for f in &v.faults {
                    println!("{f}");
                }
                println!(
                    "{:?}",
                    dnsrig_sign::verify::Verified {
                        faults: vec![],
                        ..v
                    }
                );
            }
            Err(e) => println!("{e}"),
        }
        return;
    }
    let zone: dnsrig_zone::Name = "ca.".parse().unwrap();
    let alg: Algorithm = a[2].parse().unwrap();
    let bits: Option<u32> = a[3].parse().ok();
    let dir = Path::new("/tmp/zones/keys");
    let mut keys = vec![];
    std::fs::create_dir_all(dir).unwrap();
    for role in [Role::Ksk, Role::Zsk] {
        let f = dir.join(format!("{}-{}-{:?}", a[2], a[3], role));
        if f.exists() {
            keys.push(KeyPair::read(&dir.join(std::fs::read_to_string(&f).unwrap())).unwrap());
        } else {
            let k = KeyPair::generate(&zone, alg, bits, role, &keys).unwrap();
            k.write(dir).unwrap();
            std::fs::write(&f, k.file_stem() + ".private").unwrap();
            keys.push(k);
        }
    }
    let opening = Opening::new(Path::new(&a[5]), None);
    let chain = match &a[4][..] {
        "nsec" => Chain::Nsec,
        "given" => Chain::Given,
        "nsec3" => Chain::Nsec3(Nsec3Parameters::default()),
        _ => Chain::Nsec3(Nsec3Parameters {
            opt_out: true,
            ..Default::default()
        }),
    };
    let s = FileSigning {
        chain,
        signs: std::env::var("NOSIGN").is_err(),
        now,
        refresh_s: 7 * 86400,
        verifies_kept: std::env::var("VERIFY").is_ok(),
        has_state: std::env::var("NOSTATE").is_err(),
        ..FileSigning::new(now - 3600, now + 30 * 86400)
    };
    let done = sign_file(&opening, &pool, keys.into(), &s, Path::new(&a[6]));
    println!("{:?}", done);
}
