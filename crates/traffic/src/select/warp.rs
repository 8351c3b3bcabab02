//! `traffic warp`: the same traffic at another time, faster, or several times over.

mod rename;

use super::convert::{Everything, MessagesLeftOut, StreamWriter, Written, no_queries, write_all};
use super::input::{Form, InputSummary, StandIns};
use super::pass::{Passed, pass};
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::Reading;
use crate::wire::Header;
use crate::write::LATEST_NS;
use rename::renamed;
use serde::{Deserialize, Serialize};
use std::path::Path;

const NS_PER_S: i64 = 1_000_000_000;

/// What becomes of times.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warping {
    /// How many times as fast.
    pub speed: f64,
    /// When the first packet is to be, in ns since 1970; none: when it was.
    pub start_ns: Option<i64>,
    /// How much later everything is to be, in ns.
    pub shift_ns: i64,
    /// How often everything is written, each time after the other.
    pub loops: u32,
    /// Writes the same names again and again; else from the second time on every name gets a label in front of it.
    pub same_names: bool,
}

/// What was written.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Warped {
    /// Packets as they were, but for their times.
    Packets(Passed),
    /// Messages one by one, several times over.
    Loops {
        /// What was read, once.
        #[serde(flatten)]
        input: InputSummary,
        /// What was written, all times together.
        #[serde(flatten)]
        written: Written,
        /// Queries whose names could not be made new, each time: too long, or with records that point at them.
        not_renamed: u64,
        /// Answers left out because names are new.
        answers_left_out: u64,
    },
}

impl Warping {
    fn check(&self) -> Result<(), TrafficError> {
        let why = if !(self.speed.is_finite() && self.speed > 0.0) {
            format!(
                "{} is no speed; give a number above 0, such as 2 for twice as fast",
                self.speed
            )
        } else if self.loops == 0 {
            "0 loops write nothing; give 1 or more".to_owned()
        } else {
            return Ok(());
        };
        Err(TrafficError::Setting { why })
    }
}

/// Where times lead.
#[derive(Clone, Copy, Debug)]
struct Clock {
    warping: Warping,
    first_ns: Option<i64>,
    latest_ns: i64,
    /// Later by so much in this loop.
    loop_ns: i64,
}

impl Clock {
    fn new(warping: Warping) -> Self {
        Self {
            warping,
            first_ns: None,
            latest_ns: i64::MIN,
            loop_ns: 0,
        }
    }

    /// When what was captured at `time_ns` is said to be.
    ///
    /// # Errors
    /// [`TrafficError::Setting`] for a time that no pcap file can hold.
    fn time_ns(&mut self, time_ns: i64) -> Result<i64, TrafficError> {
        let first = *self.first_ns.get_or_insert(time_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
        let since_first = match self.warping.speed {
            1.0 => time_ns.saturating_sub(first),
            // A day in ns is less than 2^47, so the f64 is exact enough for years.
            speed => (time_ns.saturating_sub(first) as f64 / speed).round() as i64,
        };
        let said = self
            .warping
            .start_ns
            .unwrap_or(first)
            .saturating_add(since_first)
            .saturating_add(self.warping.shift_ns)
            .saturating_add(self.loop_ns);
        match said {
            0..=LATEST_NS => Ok(said),
            _ => Err(TrafficError::Setting {
                why: format!(
                    "a packet would be at {} s since 1970, and pcap files hold times from 0 to {} s, in 2106: take another --start, --shift, --speed or fewer --loops",
                    said.div_euclid(NS_PER_S),
                    LATEST_NS / NS_PER_S
                ),
            }),
        }
    }

    /// Refuses, when the first loop has ended, loops the last of which would end at no time that a pcap file can hold.
    fn check_last(&self) -> Result<(), TrafficError> {
        let others = i64::from(self.warping.loops.saturating_sub(1));
        let mut last = Self {
            loop_ns: self.loop_ns.saturating_mul(others),
            ..*self
        };
        last.time_ns(self.latest_ns).map(drop)
    }

    /// Ends a loop in which `count` messages were written: the next begins as long after the last as messages are apart on
    /// average.
    fn next_loop(&mut self, count: u64) {
        let first = self.first_ns.unwrap_or(0);
        let span = self.latest_ns.max(first).saturating_sub(first) as f64 / self.warping.speed;
        let gap = span / count.saturating_sub(1).max(1) as f64;
        self.loop_ns = self
            .loop_ns
            .saturating_add((span + gap).round().max(1.0) as i64);
    }
}

/// Writes the captures to `output` with their times warped. Once, packets stay as they are; several times over, messages are
/// written one by one, and their answers with the same names only.
///
/// # Errors
/// Those of [`crate::read::run`], [`TrafficError::Setting`], [`TrafficError::NoMessages`], [`TrafficError::NoQueries`],
/// [`TrafficError::Write`] and [`TrafficError::Output`].
pub fn warp(
    reading: &Reading<'_>,
    warping: &Warping,
    output: &Path,
) -> Result<Warped, TrafficError> {
    warping.check()?;
    let mut clock = Clock::new(*warping);
    if warping.loops == 1 {
        let mut time_ns = |time_ns: i64| clock.time_ns(time_ns);
        let (passed, ()) = pass(
            reading,
            &Everything,
            &[output.to_owned()],
            Some(&mut time_ns),
        )?;
        return Ok(Warped::Packets(passed));
    }
    let mut looping = Looping {
        clock,
        writer: StreamWriter::create(output, Form::Capture)?,
        number: 0,
        not_renamed: 0,
        answers_left_out: 0,
        octets: Vec::new(),
    };
    let mut input = InputSummary::default();
    for number in 0..warping.loops {
        looping.number = number;
        input = write_all(reading, Form::Capture, &StandIns::default(), |incoming| {
            looping.message(&incoming.message)
        })?;
        let written = looping.writer.written();
        if written.messages_written == 0 {
            let left_out = MessagesLeftOut {
                answers: looping.answers_left_out,
                ..written.messages_left_out
            };
            return Err(no_queries(reading, &input, &left_out));
        }
        looping.clock.next_loop(input.messages);
        if number == 0 {
            looping.clock.check_last()?;
        }
    }
    Ok(Warped::Loops {
        input,
        written: looping.writer.finish()?,
        not_renamed: looping.not_renamed,
        answers_left_out: looping.answers_left_out,
    })
}

/// Writes everything several times.
struct Looping {
    clock: Clock,
    writer: StreamWriter,
    /// The loop at hand, from 0.
    number: u32,
    not_renamed: u64,
    answers_left_out: u64,
    octets: Vec<u8>,
}

impl Looping {
    fn message(&mut self, message: &Message<'_>) -> Result<(), TrafficError> {
        let time_ns = self.clock.time_ns(message.time_ns)?;
        let message = Message {
            time_ns,
            ..*message
        };
        if self.clock.warping.same_names {
            return self.writer.message(&message, true);
        }
        if Header::parse(message.octets).is_none_or(Header::is_answer) {
            self.answers_left_out += 1;
            return Ok(());
        }
        if self.number == 0 {
            return self.writer.message(&message, true);
        }
        self.octets.clear();
        if !renamed(message.octets, self.number + 1, &mut self.octets) {
            self.not_renamed += 1;
            return Ok(());
        }
        let octets = &self.octets;
        self.writer.message(&Message { octets, ..message }, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(speed: f64, start_ns: Option<i64>, shift_ns: i64) -> Clock {
        Clock::new(Warping {
            speed,
            start_ns,
            shift_ns,
            loops: 2,
            same_names: false,
        })
    }

    #[test]
    fn times_keep_their_order_and_their_distances() {
        let second = 1_000_000_000;
        let mut same = clock(1.0, None, 0);
        let mut faster = clock(4.0, Some(7), 3);
        for (time_ns, expected) in [(100, 10), (100 + 4 * second, 10 + second), (98, 10)] {
            assert_eq!(same.time_ns(time_ns).unwrap(), time_ns);
            assert!((faster.time_ns(time_ns).unwrap() - expected).abs() <= 1);
        }
        // Three messages over 4 s: the next loop begins 2 s / 4 after the last.
        faster.next_loop(3);
        assert_eq!(faster.time_ns(100).unwrap(), 10 + second + second / 2);
    }

    #[test]
    fn times_that_no_file_can_hold_are_refused() {
        for (start_ns, shift_ns, is_held) in [
            (None, 0, true),
            (None, -100, true),
            (None, -101, false),
            (Some(LATEST_NS), 0, true),
            (Some(LATEST_NS), 1, false),
            (Some(i64::MAX), i64::MAX, false),
        ] {
            let said = clock(1.0, start_ns, shift_ns).time_ns(100);
            assert_eq!(said.is_ok(), is_held, "{start_ns:?} {shift_ns}");
        }
        let mut slow = clock(1e-6, None, 0);
        slow.time_ns(100).unwrap();
        let error = slow.time_ns(5000 * NS_PER_S).unwrap_err().to_string();
        assert!(error.contains("at 4999999999 s since 1970"), "{error}");
        // Nor does a sum of many loops come around.
        slow.latest_ns = 10_000 * NS_PER_S;
        for _ in 0..2000 {
            slow.next_loop(2);
        }
        assert!(slow.time_ns(100).is_err());
    }

    #[test]
    fn what_is_no_warp_is_refused() {
        for (speed, loops) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1), (1.0, 0)] {
            let warping = Warping {
                loops,
                ..clock(speed, None, 0).warping
            };
            assert!(warping.check().is_err());
        }
    }
}
