//! When a key is to be published, used and withdrawn: the timing metadata of BIND's key files.

/// An event in a key's life that its files give a time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimingEvent {
    /// The key was made.
    Created,
    /// It enters the DNSKEY RRset.
    Publish,
    /// It begins to sign.
    Activate,
    /// It gets the REVOKE flag (RFC 5011 section 2.1).
    Revoke,
    /// It no longer signs.
    Inactive,
    /// It leaves the DNSKEY RRset.
    Delete,
    /// Its DS record was published by the parent.
    DsPublish,
    /// CDS and CDNSKEY records for it are published (RFC 7344).
    SyncPublish,
    /// CDS and CDNSKEY records for it are withdrawn.
    SyncDelete,
}

impl TimingEvent {
    /// All of them, in the order of BIND's files.
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::Publish,
        Self::Activate,
        Self::Revoke,
        Self::Inactive,
        Self::Delete,
        Self::DsPublish,
        Self::SyncPublish,
        Self::SyncDelete,
    ];

    /// The name in BIND's key files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Publish => "Publish",
            Self::Activate => "Activate",
            Self::Revoke => "Revoke",
            Self::Inactive => "Inactive",
            Self::Delete => "Delete",
            Self::DsPublish => "DSPublish",
            Self::SyncPublish => "SyncPublish",
            Self::SyncDelete => "SyncDelete",
        }
    }

    /// The event with this name, exactly as in BIND's files.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// The times of a key's events, in seconds since 1970, UTC.
///
/// What follows from them is what `dnssec-signzone -S` (smart signing) makes of them: so a key that was made and has no
/// other time is not in use yet. A key without any time, as other tools than BIND's make them, is published and
/// signs. Activation before publication makes signatures by a key that the
/// zone does not have yet, as an algorithm rollover needs them (RFC 6781 section 4.1.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyTiming {
    times_s: [Option<u64>; TimingEvent::ALL.len()],
}

impl KeyTiming {
    /// A key that is published and signs from `created_s` on, as dnssec-keygen makes one by default.
    pub fn from_creation(created_s: u64) -> Self {
        let mut timing = Self::default();
        for event in [
            TimingEvent::Created,
            TimingEvent::Publish,
            TimingEvent::Activate,
        ] {
            timing.set(event, Some(created_s));
        }
        timing
    }

    /// When `event` is, if a time is set for it.
    pub fn get(&self, event: TimingEvent) -> Option<u64> {
        self.times_s[event as usize]
    }

    /// Sets the time of `event`, or unsets it.
    pub fn set(&mut self, event: TimingEvent, time_s: Option<u64>) {
        self.times_s[event as usize] = time_s;
    }

    /// The events that have a time, in the order of BIND's files.
    pub fn events(&self) -> impl Iterator<Item = (TimingEvent, u64)> + '_ {
        TimingEvent::ALL
            .into_iter()
            .filter_map(|event| self.get(event).map(|time_s| (event, time_s)))
    }

    /// Whether any time is set.
    pub fn is_set(&self) -> bool {
        self.events().next().is_some()
    }

    /// Whether the DNSKEY RRset of the zone has the key at `now_s`.
    pub fn is_published(&self, now_s: u64) -> bool {
        if self.has_come(TimingEvent::Delete, now_s) {
            return false;
        }
        match self.get(TimingEvent::Publish) {
            Some(time_s) => time_s <= now_s,
            None => !self.is_set() || self.has_come(TimingEvent::Activate, now_s),
        }
    }

    /// Whether the key signs at `now_s`. A revoked key must, at least the DNSKEY RRset, until it is deleted.
    pub fn is_active(&self, now_s: u64) -> bool {
        let is_over = self.has_come(TimingEvent::Inactive, now_s)
            || self.has_come(TimingEvent::Delete, now_s);
        let signs = !self.is_set() || self.has_come(TimingEvent::Activate, now_s);
        (signs && !is_over) || self.is_revoked(now_s)
    }

    /// Whether the key is to be published with the REVOKE flag at `now_s`; it then must sign the DNSKEY RRset
    /// (RFC 5011 section 2.1), whatever else its times say.
    pub fn is_revoked(&self, now_s: u64) -> bool {
        self.has_come(TimingEvent::Revoke, now_s) && self.is_published(now_s)
    }

    /// Whether CDS and CDNSKEY records for the key are published at `now_s`.
    pub fn is_synchronised(&self, now_s: u64) -> bool {
        self.has_come(TimingEvent::SyncPublish, now_s)
            && !self.has_come(TimingEvent::SyncDelete, now_s)
    }

    /// The event because of which the key does not sign at `now_s`, with its time; `None` if it signs, or has no time
    /// for that.
    pub fn reason_not_active(&self, now_s: u64) -> Option<(TimingEvent, u64)> {
        if self.is_active(now_s) {
            return None;
        }
        let past = [TimingEvent::Delete, TimingEvent::Inactive]
            .into_iter()
            .find(|&event| self.has_come(event, now_s));
        let event = past.unwrap_or(TimingEvent::Activate);
        self.get(event).map(|time_s| (event, time_s))
    }

    fn has_come(&self, event: TimingEvent, now_s: u64) -> bool {
        self.get(event).is_some_and(|time_s| time_s <= now_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimingEvent::*;

    const NOW_S: u64 = 1_000;

    type Times<'a> = &'a [(TimingEvent, u64)];

    fn timing(times_s: &[(TimingEvent, u64)]) -> KeyTiming {
        let mut timing = KeyTiming::default();
        for &(event, time_s) in times_s {
            timing.set(event, Some(time_s));
        }
        timing
    }

    #[test]
    fn smart_signing() {
        let (past, future) = (NOW_S, NOW_S + 1);
        // Times, and whether the key is published, signs, and is revoked.
        let cases: &[(Times<'_>, [bool; 3])] = &[
            (&[], [true, true, false]),
            (&[(Created, past)], [false, false, false]),
            (&[(Publish, past)], [true, false, false]),
            (&[(Publish, future)], [false, false, false]),
            (&[(Activate, past)], [true, true, false]),
            (&[(Activate, future)], [false, false, false]),
            (&[(Publish, future), (Activate, past)], [false, true, false]),
            (
                &[(Publish, future), (Activate, future)],
                [false, false, false],
            ),
            (&[(Activate, past), (Inactive, past)], [true, false, false]),
            (&[(Activate, past), (Inactive, future)], [true, true, false]),
            (&[(Activate, past), (Delete, past)], [false, false, false]),
            (&[(Inactive, past)], [false, false, false]),
            (&[(Publish, past), (Revoke, past)], [true, true, true]),
            (
                &[(Activate, past), (Inactive, past), (Revoke, past)],
                [true, true, true],
            ),
            (
                &[(Activate, past), (Delete, past), (Revoke, past)],
                [false, false, false],
            ),
            (&[(Publish, future), (Revoke, past)], [false, false, false]),
        ];
        for (times_s, [published, active, revoked]) in cases {
            let timing = timing(times_s);
            assert_eq!(timing.is_published(NOW_S), *published, "{times_s:?}");
            assert_eq!(timing.is_active(NOW_S), *active, "{times_s:?}");
            assert_eq!(timing.is_revoked(NOW_S), *revoked, "{times_s:?}");
        }
    }

    #[test]
    fn why_a_key_does_not_sign() {
        let reason = |times_s: &[(TimingEvent, u64)]| timing(times_s).reason_not_active(NOW_S);
        assert_eq!(reason(&[(Activate, 2_000)]), Some((Activate, 2_000)));
        assert_eq!(reason(&[(Activate, 1), (Inactive, 5)]), Some((Inactive, 5)));
        assert_eq!(
            reason(&[(Activate, 1), (Inactive, 5), (Delete, 9)]),
            Some((Delete, 9))
        );
        assert_eq!(reason(&[(Publish, 1)]), None);
        assert_eq!(reason(&[(Activate, 1)]), None);
    }

    #[test]
    fn synchronised_between_its_times() {
        let timing = timing(&[(SyncPublish, 10), (SyncDelete, 20)]);
        let at = [9, 10, 19, 20].map(|now_s| timing.is_synchronised(now_s));
        assert_eq!(at, [false, true, true, false]);
    }
}
