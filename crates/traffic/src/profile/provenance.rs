//! Where every figure of a profile is from.

use std::collections::BTreeMap;
use toml::{Table, Value};

/// The key under which a table says where its figures are from.
pub(super) const KEY: &str = "provenance";

/// How a statement begins.
const KINDS: [&str; 4] = ["published: ", "measured: ", "derived: ", "assumed: "];

/// Keys of a profile that are no figures.
const NO_FIGURES: [&str; 2] = ["name", "title"];

/// Writes into `table` where its `key` is from.
///
/// # Panics
/// If the table says so of itself in another form.
pub(super) fn say(table: &mut Table, key: &str, statement: &str) {
    let said = table.entry(KEY).or_insert_with(|| Table::new().into());
    let said = said.as_table_mut().expect("nothing else writes it");
    said.insert(key.to_owned(), statement.into());
}

/// Takes the statements out of `profile`; gives one for the path of each figure, such as `rate.mean_qps`.
///
/// A table's `provenance` is a statement for all that is in the table, or a table with a statement for each key. What a table
/// says of itself goes before what is said of it.
///
/// # Errors
/// Which figure has none, or which statement has no figure or another beginning than `published: `, `measured: `,
/// `derived: ` or `assumed: `.
pub(super) fn take(profile: &mut Table) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    take_from(profile, "", None, &mut found)?;
    Ok(found)
}

fn take_from(
    table: &mut Table,
    path: &str,
    inherited: Option<&str>,
    found: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let here = if path.is_empty() {
        KEY.to_owned()
    } else {
        format!("{path}.{KEY}")
    };
    let (mut by_key, mut of_all) = (Table::new(), inherited.map(str::to_owned));
    match table.remove(KEY) {
        None => {}
        Some(Value::String(statement)) => of_all = Some(checked(&here, &statement)?.to_owned()),
        Some(Value::Table(statements)) => by_key = statements,
        Some(_) => return Err(format!("'{here}' is neither a text nor a table of texts")),
    }
    if let Some(key) = by_key.keys().find(|key| !table.contains_key(*key)) {
        return Err(format!("'{here}' speaks of '{key}', which is not there"));
    }
    for (key, value) in table.iter_mut() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let statement = match by_key.get(key) {
            None => of_all.as_deref(),
            Some(Value::String(statement)) => Some(checked(&here, statement)?),
            Some(_) => return Err(format!("'{here}.{key}' is no text")),
        };
        match value {
            Value::Table(inner) => take_from(inner, &path, statement, found)?,
            Value::Array(items) if items.iter().any(Value::is_table) => {
                for (item, number) in items.iter_mut().zip(1..) {
                    if let Value::Table(inner) = item {
                        take_from(inner, &format!("{path}[{number}]"), statement, found)?;
                    }
                }
            }
            _ if NO_FIGURES.contains(&path.as_str()) => {}
            _ => {
                let statement = statement.ok_or_else(|| {
                    format!("'{path}' does not say where it is from: give its table a '{KEY}', if it is one that profiles have")
                })?;
                found.insert(path, statement.to_owned());
            }
        }
    }
    Ok(())
}

fn checked<'a>(place: &str, statement: &'a str) -> Result<&'a str, String> {
    let says_something = |kind: &&str| {
        statement
            .strip_prefix(*kind)
            .is_some_and(|text| !text.trim().is_empty())
    };
    match KINDS.iter().any(says_something) {
        true => Ok(statement),
        false => Err(format!(
            "'{place}' does not begin with 'published: ', 'measured: ', 'derived: ' or 'assumed: ' and then say what: '{statement}'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Result<BTreeMap<String, String>, String> {
        take(&mut text.parse().unwrap())
    }

    #[test]
    fn statements_reach_every_figure_below_them() {
        let found = taken(
            "name = 'x'\nprovenance.b = 'assumed: b'\nprovenance.c = 'published: c'\n[a]\nx = 1\ny = 2\nprovenance = { x = 'derived: x', y = 'measured: y' }\n\
             [b]\nz = [1, 2]\n[b.inner]\nz = 3\n[[c]]\nz = 4\n[[c]]\nz = 5\nprovenance = 'derived: own'\n",
        )
        .unwrap();
        let said: Vec<_> = found
            .iter()
            .map(|(path, text)| format!("{path} {text}"))
            .collect();
        assert_eq!(
            said,
            [
                "a.x derived: x",
                "a.y measured: y",
                "b.inner.z assumed: b",
                "b.z assumed: b",
                "c[1].z published: c",
                "c[2].z derived: own",
            ]
        );
    }

    #[test]
    fn a_figure_from_nowhere_is_refused() {
        for (text, expected) in [
            ("x = 1", "'x' does not say"),
            (
                "[a]\nx = 1\ny = 2\nprovenance.x = 'assumed: x'",
                "'a.y' does not say",
            ),
            (
                "[[a]]\nx = 1\nprovenance = 'assumed: x'\n[[a]]\nx = 2",
                "'a[2].x' does not say",
            ),
            ("x = 1\nprovenance = 'somewhere'", "does not begin with"),
            ("x = 1\nprovenance = 'assumed: '", "does not begin with"),
            ("x = 1\nprovenance = 1", "neither a text"),
            ("x = 1\nprovenance.x = 1", "is no text"),
            (
                "x = 1\nprovenance = { x = 'assumed: x', y = 'assumed: y' }",
                "speaks of 'y'",
            ),
        ] {
            let error = taken(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
