//! Packets that hold several UDP datagrams.

use crate::message::{Message, Transport};
use dnsrig_stream::capture::merged;

/// The messages of a packet that [`merged`] datagrams make up, each as if it had a packet of its own.
#[derive(Clone, Debug)]
pub struct Datagrams<'a> {
    packet: Message<'a>,
    messages: merged::Datagrams<'a>,
}

impl<'a> Datagrams<'a> {
    /// Takes `message` apart, which [`super::decode`] gives; `None` if it is one message, as nearly all are.
    pub fn of(message: &Message<'a>) -> Option<Self> {
        if message.transport != Transport::Udp {
            return None;
        }
        Some(Self {
            packet: *message,
            messages: merged::Datagrams::of(message.octets, message.is_cut)?,
        })
    }

    /// The messages that `message` is made up of, or itself.
    pub fn or_itself(message: Message<'a>) -> impl Iterator<Item = Message<'a>> {
        let merged = Self::of(&message);
        let itself = merged.is_none().then_some(message);
        itself.into_iter().chain(merged.into_iter().flatten())
    }
}

impl<'a> Iterator for Datagrams<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let (octets, is_cut) = self.messages.next()?;
        Some(Message {
            octets,
            is_cut,
            ..self.packet
        })
    }
}
