//! Blocks mean what the whole text means.

use super::*;
use crate::read::{LocatedRecord, Records};
use proptest::prelude::*;
use std::str::FromStr;

fn blocks(text: &str, octets: usize) -> Vec<TextBlock> {
    let mut source = TextSource::text(Path::new("-"), text.into(), None).with_block_octets(octets);
    std::iter::from_fn(|| source.next_block().unwrap()).collect()
}

#[test]
fn entries_stay_whole() {
    let text = "a 1 IN TXT \"x $b ( ; ) \" (\n\n$o 1 ;)\n \")\" ) 2\n\tblank\nc \\( d\ne\n";
    for octets in 1..text.len() + 2 {
        let blocks = blocks(text, octets);
        let joined: Vec<u8> = blocks.iter().flat_map(|block| block.text.clone()).collect();
        assert_eq!(String::from_utf8(joined).unwrap(), text);
        let mut line = 1;
        for block in &blocks {
            assert_eq!(block.first_line, line);
            assert_eq!(block.inherits_owner, block.text.starts_with(b"\t"));
            line += lines(&block.text);
        }
    }
}

#[test]
fn directives_go_on() {
    let text = "$ORIGIN a.\n$TTL 5\nx A 1\n$ORIGIN b\ny A 2\n";
    for octets in 1..text.len() + 2 {
        let mut blocks = blocks(text, octets);
        let last = blocks.pop().unwrap();
        if blocks.is_empty() {
            assert_eq!(last.text, text.as_bytes());
            continue;
        }
        let first = &blocks[0];
        assert_eq!((&first.origin, first.default_ttl), (&None, None));
        // The last block begins after $TTL at the earliest.
        let origin = match &last.text[..] {
            b"y A 2\n" => "b.a",
            _ => "a",
        };
        assert_eq!(last.origin.unwrap().to_string(), origin);
        assert_eq!(last.default_ttl, Some(5));
    }
}

#[test]
fn long_runs_without_owner_are_cut() {
    for line in [
        "; comment (\n",
        "\tA 192.0.2.1\n",
        "\n",
        "(\n) a A 192.0.2.1\n",
    ] {
        let text = format!("a A 192.0.2.1\n{}", line.repeat(200_000));
        let blocks = blocks(&text, 64 << 10);
        let longest = blocks.iter().map(|block| block.text.len()).max().unwrap();
        assert!(longest <= 64 << 10);
        let joined: Vec<u8> = blocks.into_iter().flat_map(|block| block.text).collect();
        assert_eq!(joined, text.as_bytes());
    }
}

#[test]
fn an_entry_without_end_is_refused_early() {
    let text = format!("a A 1\nb TXT (\n{}", "x\n".repeat(30 << 20));
    let mut source = TextSource::text(Path::new("-"), text.into(), None);
    source.next_block().unwrap();
    let error = source.next_block().unwrap_err().to_string();
    assert!(
        error.starts_with("-:2:7: an opening parenthesis"),
        "{error}"
    );
    assert!(source.octets_read() < 18 << 20);
}

/// Lines that mean something to each other.
fn zone_line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a A 192.0.2.1\n",
        "b.test. 60 A 192.0.2.2\n",
        "c 1h MX 10 d\n",
        "@ SOA ns h 1 2 3 4 5\n",
        "\tA 192.0.2.3\n",
        " 30 TXT \"x;( $\" y ; \"\n",
        "d TXT ( x\n$y ; \")\n\" z\" )\n",
        "\" e\" A 192.0.2.4\n",
        "(\n) f A 192.0.2.5\n",
        "\\(g A 192.0.2.6\r\n",
        "$ORIGIN sub\n",
        "$ORIGIN b.test.\n",
        "$TTL 20 ; (\n",
        "$TTL (\n30 )\n",
        "; comment ( \"\n",
        "   \n",
        "\n",
    ])
}

proptest! {
    #[test]
    fn any_text_is_cut_without_loss(text in "[ a;\"()\\\\\n$]{0,60}", octets in 1usize..40) {
        let joined: Vec<u8> = blocks(&text, octets).into_iter().flat_map(|block| block.text).collect();
        prop_assert_eq!(String::from_utf8(joined).unwrap(), text);
    }

    #[test]
    fn blocks_mean_what_the_whole_means(lines in prop::collection::vec(zone_line(), 0..20), octets in 1usize..200) {
        let text = format!("a 60 A 192.0.2.9\n{}", lines.concat());
        let read = |octets: usize| {
            let origin = Name::from_str("test.").unwrap();
            let source = TextSource::text(Path::new("-"), text.clone().into(), Some(origin));
            let records = Records::read(Path::new("-"), &mut source.with_block_octets(octets));
            records.map(|records| {
                let shown = |located: &LocatedRecord| (located.record.clone(), records.position(located));
                (records.records.iter().map(shown).collect::<Vec<_>>(), records.warnings.clone())
            })
        };
        let (whole, parts) = (read(1 << 20), read(octets));
        prop_assert_eq!(whole.map_err(|error| error.to_string()), parts.map_err(|error| error.to_string()));
    }
}
