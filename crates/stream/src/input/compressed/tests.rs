use super::super::{Watch, failure, open};
use super::*;
use crate::StreamError;
use std::io::Write;
use std::path::Path;

fn read(octets: &[u8]) -> io::Result<Vec<u8>> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(octets)?;
    let mut read = Vec::new();
    open(file.path(), Watch::uncounted(&AtomicBool::new(false)))?.read_to_end(&mut read)?;
    Ok(read)
}

fn xz(octets: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_are_decompressed_and_others_read_as_they_are() {
    let text = b"www.example.test A\n".repeat(1000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    assert_eq!(read(&gzip.finish().unwrap()).unwrap(), text);
    assert_eq!(
        read(&zstd::encode_all(&text[..], 1).unwrap()).unwrap(),
        text
    );
    // Several streams in one file, as `cat` of compressed files leaves them.
    let half = text.len() / 2;
    let [first, second] = [&text[..half], &text[half..]].map(xz);
    assert_eq!(read(&[first, second].concat()).unwrap(), text);
    assert_eq!(read(&text).unwrap(), text);
    for short in [&b""[..], b"a", b"\x1f", b"abcd", b"\xfd7zXZ"] {
        assert_eq!(read(short).unwrap(), short);
    }
}

#[test]
fn what_stands_before_damage_is_read() {
    let text = b"www.example.test A\n".repeat(1000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    for whole in [
        gzip.finish().unwrap(),
        zstd::encode_all(&text[..], 1).unwrap(),
        xz(&text),
    ] {
        // Long enough to be seen by each of them as other than the beginning of one more stream.
        let octets = [&whole[..], &[b'x'; 64]].concat();
        let cancel = AtomicBool::new(false);
        let mut input = decompressed(&octets[..], &cancel).unwrap();
        let mut read = Vec::new();
        let error = input.read_to_end(&mut read).unwrap_err();
        assert_eq!(Undecodable::of(&error).unwrap().how(), Undecoded::Damaged);
        assert_eq!(read, text);
    }
}

#[test]
fn a_compressed_file_that_is_cut_off_is_an_error() {
    for whole in [
        zstd::encode_all(&[7; 100_000][..], 1).unwrap(),
        xz(&[7; 100_000]),
    ] {
        let error = read(&whole[..whole.len() - 3]).unwrap_err();
        assert_eq!(Undecodable::of(&error).unwrap().how(), Undecoded::CutOff);
        let error = failure(Path::new("q.txt"), error).to_string();
        assert!(error.contains("data are cut off after octet"), "{error}");
    }
}

/// What xz makes of `octets`, but for a dictionary of a length that the format writes as `code`.
fn xz_of_dictionary(octets: &[u8], code: u8) -> Vec<u8> {
    const HEADER_LEN: usize = 12;
    let mut whole = xz(octets);
    // The block's header: length, flags, filter, length of its properties, the dictionary's length, padding, checksum.
    let block = &mut whole[HEADER_LEN..HEADER_LEN + 12];
    assert_eq!(block[..4], [2, 0, 0x21, 1]);
    block[4] = code;
    let mut checksum = flate2::Crc::new();
    checksum.update(&block[..8]);
    block[8..].copy_from_slice(&checksum.sum().to_le_bytes());
    whole
}

/// What zstd makes of `octets`, but for a window of `log2` bits.
fn zstd_of_window(octets: &[u8], log2: u8) -> Vec<u8> {
    let mut whole = zstd::encode_all(octets, 1).unwrap();
    // A window's length follows unless the frame is a single segment (RFC 8878 section 3.1.1.1).
    assert_eq!(whole[4] & 0x20, 0);
    whole[5] = (log2 - 10) << 3;
    whole
}

#[test]
fn dictionaries_that_are_too_large_are_refused_with_the_way_out() {
    let text = b"www.example.test A\n".repeat(1000);
    let (at_most, too_large) = (32, 33);
    assert_eq!(read(&xz_of_dictionary(&text, at_most)).unwrap(), text);
    assert_eq!(read(&zstd_of_window(&text, 28)).unwrap(), text);
    for (octets, command) in [
        (xz_of_dictionary(&text, too_large), "'xz -dc FILE'"),
        (xz_of_dictionary(&text, 40), "'xz -dc FILE'"),
        (zstd_of_window(&text, 29), "'zstd -dc --long=31 FILE'"),
    ] {
        let error = read(&octets).unwrap_err();
        assert_eq!(Undecodable::of(&error).unwrap().how(), Undecoded::TooLarge);
        let error = failure(Path::new("q.txt"), error);
        assert!(matches!(error, StreamError::Undecodable { .. }));
        let error = error.to_string();
        assert!(error.starts_with("q.txt: its "), "{error}");
        assert!(error.contains("more than 256 MiB"), "{error}");
        assert!(error.ends_with(command), "{error}");
    }
    // Also of a stream that follows another, whose text comes first.
    let mixed = [xz(&text), xz_of_dictionary(&text, too_large)].concat();
    assert!(read(&mixed).is_err());
}

#[test]
fn a_few_octets_that_decompress_to_many_are_left_once_the_flag_is_set() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let packed = zstd::encode_all(&vec![0; 1 << 20][..], 1).unwrap();
    file.write_all(&packed).unwrap();
    let cancel = AtomicBool::new(false);
    let mut input = open(file.path(), Watch::uncounted(&cancel)).unwrap();
    input.read_exact(&mut [0; 10]).unwrap();
    cancel.store(true, Ordering::Relaxed);
    assert!(input.read(&mut [0; 10]).is_err());
}
