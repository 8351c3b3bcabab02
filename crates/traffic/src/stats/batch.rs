//! Names and clients whose places in tables are being fetched.

use super::tally::Tally;
use std::net::{IpAddr, Ipv4Addr};

/// Items whose places are fetched before the first of them is needed.
pub const BATCH: usize = 16;

/// Names and clients whose places are being fetched.
pub struct Batch<'m> {
    names: [(u64, &'m [u8]); BATCH],
    names_len: usize,
    clients: [(u64, IpAddr); BATCH],
    clients_len: usize,
}

impl<'m> Batch<'m> {
    /// An empty batch.
    pub fn new() -> Self {
        Self {
            names: [(0, &[]); BATCH],
            names_len: 0,
            clients: [(0, IpAddr::V4(Ipv4Addr::UNSPECIFIED)); BATCH],
            clients_len: 0,
        }
    }

    /// Counts a name, whose hash [`super::hashing::Hashing::name`] made, now or later.
    #[inline]
    pub fn add_name(&mut self, tally: &mut Tally, hash: u64, name: &'m [u8]) {
        let Some(names) = &mut tally.names else {
            return;
        };
        names.table.prefetch(hash);
        self.names[self.names_len] = (hash, name);
        self.names_len += 1;
        if self.names_len == BATCH {
            self.finish_names(tally);
        }
    }

    /// Counts a client, whose hash [`super::clients::hash_of`] made, now or later.
    #[inline]
    pub fn add_client(&mut self, tally: &mut Tally, hash: u64, address: IpAddr) {
        tally.clients.table.prefetch(hash);
        self.clients[self.clients_len] = (hash, address);
        self.clients_len += 1;
        if self.clients_len == BATCH {
            self.finish_clients(tally);
        }
    }

    fn finish_names(&mut self, tally: &mut Tally) {
        let len = std::mem::take(&mut self.names_len);
        if let Some(names) = &mut tally.names {
            for (hash, name) in &self.names[..len] {
                names.add(*hash, name);
            }
        }
    }

    fn finish_clients(&mut self, tally: &mut Tally) {
        let len = std::mem::take(&mut self.clients_len);
        for (hash, address) in &self.clients[..len] {
            tally.clients.add(*hash, *address);
        }
    }

    /// Counts what has not been counted.
    pub fn finish(mut self, tally: &mut Tally) {
        self.finish_names(tally);
        self.finish_clients(tally);
    }
}
