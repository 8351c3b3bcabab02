//! The profiles that come with the rig.

/// Names and texts of the profiles that come with the rig.
pub const NAMED_PROFILES: [(&str, &str); 2] = [
    (
        "internet-2022",
        include_str!("../../profiles/internet-2022.toml"),
    ),
    ("small", include_str!("../../profiles/small.toml")),
];

/// The text of a named profile, to be edited.
pub fn named_profile_text(name: &str) -> Option<&'static str> {
    let found = NAMED_PROFILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
