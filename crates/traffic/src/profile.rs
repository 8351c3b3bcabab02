//! Profiles: traffic described by counts and distributions, from which it can be synthesised.
//!
//! A profile is a TOML file. Each of its figures says where it is from: published, measured, derived from such, or assumed.
//! Those that come with dnsrig are [`NAMED`]; [`crate::fit`] makes others of captures.

mod check;
mod figures;
mod provenance;
mod quantiles;

pub use figures::{
    AnswerFigures, ClientGroup, MissingFigures, NameFigures, OpcodeFigures, QueryFigures, Ranks,
    Rate, RcodeShare, Suffix, TransportFigures, TypeFigures,
};
pub use quantiles::Quantiles;

use crate::error::TrafficError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use toml::Table;

/// The profiles that come with dnsrig: each one's name and text.
pub const NAMED: [(&str, &str); 2] = [
    ("root-2006", include_str!("../profiles/root-2006.toml")),
    (
        "resolver-2022",
        include_str!("../profiles/resolver-2022.toml"),
    ),
];

/// The longest profile that is read, in octets.
const MAX_LEN: u64 = 1 << 20;

/// Traffic in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// What traffic it describes, in a line.
    pub title: String,
    /// How many queries there are, and when.
    pub rate: Rate,
    /// Who sends them.
    pub clients: Vec<ClientGroup>,
    /// Of which types they are.
    pub types: Vec<TypeFigures>,
    /// Requests with other opcodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opcodes: Vec<OpcodeFigures>,
    /// Flags and EDNS of queries.
    pub queries: QueryFigures,
    /// Names that exist.
    pub names: NameFigures,
    /// Names that do not exist.
    pub missing_names: NameFigures,
    /// What kinds of names do not exist.
    pub missing: MissingFigures,
    /// What carries messages.
    pub transports: TransportFigures,
    /// Answers.
    pub answers: AnswerFigures,
    /// For the path of each figure, such as `rate.mean_qps`, where it is from.
    #[serde(skip)]
    pub provenance: BTreeMap<String, String>,
}

impl Profile {
    /// Reads a profile; `source` is its name or path in errors.
    ///
    /// # Errors
    /// [`TrafficError::Profile`] with what is wrong with it.
    pub fn parse(source: &str, text: &str) -> Result<Self, TrafficError> {
        let wrong = |why: String| TrafficError::Profile {
            profile: source.to_owned(),
            why,
        };
        let not_toml = |error: toml::de::Error| wrong(error.to_string().trim_end().to_owned());
        let mut table: Table = text.parse().map_err(not_toml)?;
        let provenance = provenance::take(&mut table).map_err(wrong)?;
        let mut profile: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
        profile.provenance = provenance;
        check::check(&profile).map_err(wrong)?;
        Ok(profile)
    }

    /// Gives the profile of that name among [`NAMED`], or reads the file of that path.
    ///
    /// # Errors
    /// [`TrafficError::Profile`], also if there is neither; [`TrafficError::Read`].
    pub fn open(source: &str) -> Result<Self, TrafficError> {
        Self::parse(source, &Self::text(source)?)
    }

    /// The text of what [`Self::open`] opens.
    ///
    /// # Errors
    /// [`TrafficError::Profile`] if there is neither; [`TrafficError::Read`].
    pub fn text(source: &str) -> Result<String, TrafficError> {
        if let Some((_, text)) = NAMED.iter().find(|(name, _)| *name == source) {
            return Ok((*text).to_owned());
        }
        let refused = |why: String| TrafficError::Profile {
            profile: source.to_owned(),
            why,
        };
        let read = |file: std::fs::File| -> io::Result<String> {
            let mut text = String::new();
            file.take(MAX_LEN + 1).read_to_string(&mut text)?;
            Ok(text)
        };
        let path = Path::new(source);
        match std::fs::File::open(path).and_then(read) {
            Ok(text) if text.len() as u64 > MAX_LEN => Err(refused(format!(
                "longer than {MAX_LEN} octets, so no profile"
            ))),
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let names: Vec<_> = NAMED.iter().map(|(name, _)| *name).collect();
                Err(refused(format!(
                    "there is no such file, and no profile of that name; there are {}",
                    names.join(", ")
                )))
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(refused("is no text in UTF-8, so no profile".to_owned()))
            }
            Err(source) => Err(TrafficError::Read {
                file: path.to_owned(),
                source,
            }),
        }
    }

    /// The profile as TOML, each table with the statements of `provenance`: for the path of a table or of a key in one (such as
    /// `rate` or `rate.hours`), where it is from. Comments go before all.
    ///
    /// # Panics
    /// If a path leads to no table.
    pub fn to_toml(&self, comments: &str, provenance: &[(&str, &str)]) -> String {
        let mut table = Table::try_from(self).expect("figures are numbers, texts and tables");
        for (path, statement) in provenance {
            match path.split_once('.') {
                None => provenance::say(&mut table, path, statement),
                Some((outer, key)) => match table.get_mut(outer) {
                    // A figure that is zero may not be written.
                    Some(toml::Value::Array(tables)) => {
                        let tables = tables.iter_mut().filter_map(toml::Value::as_table_mut);
                        let tables = tables.filter(|table| table.contains_key(key));
                        tables.for_each(|table| provenance::say(table, key, statement));
                    }
                    inner => {
                        let inner = inner.and_then(toml::Value::as_table_mut);
                        provenance::say(inner.expect("a table"), key, statement);
                    }
                },
            }
        }
        let comments: String = comments.lines().map(|line| format!("# {line}\n")).collect();
        let text = toml::to_string(&table).expect("a table of tables");
        format!("{comments}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_the_profiles_that_come_with_dnsrig_says_where_it_is_from() {
        for (name, text) in NAMED {
            let profile = Profile::parse(name, text).unwrap();
            assert_eq!(profile.name, name);
            for path in [
                "rate.mean_qps",
                "types[1].count",
                "answers.latency_ms",
                "clients[1].caching",
            ] {
                assert!(profile.provenance.contains_key(path), "{name}: {path}");
            }
        }
    }

    #[test]
    fn root_2006_has_the_published_figures() {
        let profile = Profile::open("root-2006").unwrap();
        let queries: f64 = profile.types.iter().map(|figures| figures.count).sum();
        assert_eq!(queries, 414_931_073.0);
        let failed: f64 = profile.types.iter().map(|figures| figures.failed).sum();
        assert_eq!(format!("{:.1}", 100.0 * failed / queries), "38.8");
        assert_eq!(profile.rate.mean_qps, 2401.2);
        let published: Vec<_> = (profile.provenance.iter())
            .filter(|(_, statement)| statement.starts_with("published: ISC-2008"))
            .map(|(path, _)| path.as_str())
            .collect();
        for path in [
            "rate.mean_qps",
            "types[1].count",
            "types[10].failed",
            "queries.rd_failed",
            "transports.tcp_sessions",
        ] {
            assert!(published.contains(&path), "{path}: {published:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (name, text) in NAMED {
            let profile = Profile::parse(name, text).unwrap();
            let statements: Vec<_> = [
                "rate",
                "clients",
                "types",
                "opcodes",
                "queries",
                "names",
                "missing_names",
                "missing",
                "transports",
                "answers",
            ]
            .into_iter()
            .filter(|key| *key != "opcodes" || !profile.opcodes.is_empty())
            .map(|key| (key, "measured: here"))
            .chain([("rate.mean_qps", "assumed: there")])
            .collect();
            let written = profile.to_toml("A title\nof two lines", &statements);
            assert!(written.starts_with("# A title\n# of two lines\n"));
            let mut read = Profile::parse("written", &written).unwrap();
            assert_eq!(read.provenance["rate.mean_qps"], "assumed: there");
            assert_eq!(read.provenance["types[1].count"], "measured: here");
            read.provenance = profile.provenance.clone();
            assert_eq!(read, profile);
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let text = NAMED[0].1;
        for (from, to, expected) in [
            ("mean_qps = 2401.2", "mean_qps = -1.0", "rate.mean_qps"),
            ("mean_qps = 2401.2", "mean_qps = 'x'", "rate"),
            ("type = \"PTR\"", "type = \"PTRX\"", "PTRX"),
            ("mean_qps = 2401.2", "", "mean_qps"),
            ("name = ", "nome = ", "nome"),
            ("[rate]", "[rate", "1"),
        ] {
            assert!(text.contains(from), "{from}");
            let error = Profile::parse("p.toml", &text.replacen(from, to, 1))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("p.toml") && error.contains(expected),
                "{from} -> {to}: {error}"
            );
        }
        let error = Profile::open("root-2007").unwrap_err().to_string();
        assert!(error.contains("root-2006, resolver-2022"), "{error}");
    }
}
