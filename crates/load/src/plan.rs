//! How a load is shared out: clients to threads and routes, places for queries in flight to clients.

use crate::LoadError;
use crate::choice::{Choice, Rotation, Weighted};
use crate::config::{LoadConfig, ScheduleKind, TransportKind};
use crate::in_flight::MAX_SLOTS_PER_CLIENT;
use crate::order::Order;
use crate::transport::BATCH;
use dnsrig_stream::QueryStream;
use std::collections::VecDeque;
use std::ops::Range;

/// Places for queries in flight over all clients, at most: about 2 GB of memory.
const MAX_PLACES: usize = 1 << 25;

/// Fewest places of a client, so that bursts find room; fewer if there are so many clients that these would be more than
/// [`ROOMY_PLACES`].
const MIN_PLACES: usize = 64;
const ROOMY_PLACES: usize = 1 << 20;

/// What one thread of a load has to do with.
#[derive(Debug)]
pub struct Plan {
    /// Clients of each route; that of the TCP fallback comes last, if there is one.
    pub clients: Vec<usize>,
    /// Places for queries in flight of each client.
    pub places: Vec<usize>,
    /// The thread's queries.
    pub order: Order,
    /// Its client for each client of the stream, where these are kept.
    of_stream: Option<Vec<u32>>,
    /// Clients of the TCP fallback.
    pub fallback: Option<Range<usize>>,
}

/// The share of thread number `thread` in `total` things.
pub fn share(total: usize, thread: usize, threads: usize) -> usize {
    total / threads + usize::from(thread < total % threads)
}

/// The transports of a load's routes, in the order of [`Plan::clients`].
pub fn kinds(config: &LoadConfig) -> Vec<TransportKind> {
    let asked = config.routes.iter().map(|route| route.transport);
    asked
        .chain(config.tcp_fallback.then_some(TransportKind::Tcp))
        .collect()
}

impl Plan {
    /// Makes each thread's plan.
    ///
    /// # Errors
    /// [`LoadError::Setting`] if that would take too many places for queries in flight, or if the clients of a stream
    /// are to be kept that names none.
    pub fn make(config: &LoadConfig, stream: &QueryStream) -> Result<Vec<Self>, LoadError> {
        let threads = config.thread_count();
        if matches!(config.schedule, ScheduleKind::Replay { .. }) && !stream.is_timed() {
            return Err(LoadError::Setting {
                option: "schedule",
                reason:
                    "the stream has no times to replay; give a capture, or a query file with times"
                        .to_owned(),
            });
        }
        let plans: Vec<Self> = if config.keep_clients {
            if !stream.is_timed() {
                return Err(LoadError::Setting {
                    option: "keep_clients",
                    reason: "the stream names no clients; replay a capture, or a query file with times and clients".to_owned(),
                });
            }
            let speed = match config.schedule {
                ScheduleKind::Replay { speed } => speed,
                _ => 1.0,
            };
            let window_ns = (config.timeout.as_nanos() as f64 * speed) as u64;
            let bursts = bursts(stream, window_ns);
            (0..threads)
                .map(|thread| Self::replay(config, stream, &bursts, thread))
                .collect()
        } else {
            (0..threads)
                .map(|thread| Self::take_turns(config, stream, thread))
                .collect()
        };
        let places: usize = plans.iter().flat_map(|plan| &plan.places).sum();
        if places > MAX_PLACES {
            return Err(LoadError::Setting {
                option: match config.schedule {
                    ScheduleKind::ClosedLoop { .. } => "outstanding",
                    _ => "rate_qps",
                },
                reason: format!(
                    "the load would need {places} places for queries in flight, more than {MAX_PLACES}; give fewer clients or queries in \
                     flight, a lower rate, or a shorter time-out"
                ),
            });
        }
        Ok(plans)
    }

    fn take_turns(config: &LoadConfig, stream: &QueryStream, thread: usize) -> Self {
        let threads = config.thread_count();
        let mut clients: Vec<usize> = config
            .routes
            .iter()
            .map(|route| share(config.clients_of(route), thread, threads))
            .collect();
        let fallback = add_fallback(config, &mut clients);
        let places = places_per_client(config);
        Self {
            places: vec![places; clients.iter().sum()],
            clients,
            order: Order::every(thread, threads, stream.len()),
            of_stream: None,
            fallback,
        }
    }

    /// Clients of the stream go to threads in turn, and to routes by weight.
    fn replay(config: &LoadConfig, stream: &QueryStream, bursts: &[usize], thread: usize) -> Self {
        let threads = config.thread_count();
        let routes = config.routes.len();
        let turns = (0..routes).map(|route| {
            let only = Rotation::new(route..route + 1, 1);
            (config.routes[route].weight, only)
        });
        let mut turns = Weighted::new(turns, config.seed);
        let own = (thread..stream.client_count() as usize).step_by(threads);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); routes];
        for client in own {
            let route = turns.pick(|_| true).unwrap_or(0);
            turns.took();
            members[route].push(client);
        }
        let mut of_stream = vec![0; stream.client_count() as usize];
        for (number, client) in members.iter().flatten().enumerate() {
            of_stream[*client] = number as u32;
        }
        let mut places: Vec<usize> = members
            .iter()
            .flatten()
            .map(|client| bursts[*client])
            .collect();
        let mut clients: Vec<usize> = members.iter().map(Vec::len).collect();
        let fallback = add_fallback(config, &mut clients);
        places.resize(clients.iter().sum(), MIN_PLACES);
        Self {
            clients,
            places,
            order: Order::of_clients(thread, threads, stream),
            of_stream: Some(of_stream),
            fallback,
        }
    }

    /// Who sends the thread's queries.
    pub fn choice(&mut self, config: &LoadConfig, thread: usize) -> Choice {
        if let Some(clients) = self.of_stream.take() {
            return Choice::Stream(clients);
        }
        let longest_run = match config.schedule {
            ScheduleKind::ClosedLoop { outstanding, .. } => {
                let window = share(outstanding, thread, config.thread_count());
                window.div_ceil(self.clients[0]).min(BATCH)
            }
            _ => BATCH,
        };
        let mut first = 0;
        let rotations = self.clients.iter().map(|count| {
            let clients = first..first + count;
            first = clients.end;
            Rotation::new(clients, longest_run)
        });
        let weights = config.routes.iter().map(|route| route.weight);
        let mut weighted: Vec<(f64, Rotation)> = weights.zip(rotations).collect();
        if weighted.len() == 1 {
            return Choice::Rotation(weighted.remove(0).1);
        }
        Choice::Weighted {
            routes: Box::new(Weighted::new(weighted, config.seed ^ (thread as u64) << 48)),
            waits: matches!(config.schedule, ScheduleKind::ClosedLoop { .. }),
        }
    }
}

/// One connection for each client over UDP, as far as they are so many.
fn add_fallback(config: &LoadConfig, clients: &mut Vec<usize>) -> Option<Range<usize>> {
    if !config.tcp_fallback {
        return None;
    }
    let first: usize = clients.iter().sum();
    let of_udp = config.routes.iter().zip(clients.iter());
    let count = of_udp
        .filter(|(route, _)| route.transport == TransportKind::Udp)
        .map(|(_, count)| *count)
        .sum::<usize>()
        .max(1);
    clients.push(count);
    Some(first..first + count)
}

/// Places for queries in flight that each client gets.
fn places_per_client(config: &LoadConfig) -> usize {
    let clients = config.client_count();
    let wanted = match config.schedule {
        // Four times the mean, so that slow answers to one client do not hold up the others.
        ScheduleKind::ClosedLoop { outstanding, .. } => 4 * outstanding.div_ceil(clients),
        // Twice what a silent server leaves in flight on average.
        _ => {
            // A replay over fewer clients than its own says no rate; places enough for a fast one.
            let rate_qps = config.schedule.highest_qps().unwrap_or(100_000.0);
            (rate_qps * config.timeout.as_secs_f64() / clients as f64 * 2.0) as usize
        }
    };
    let least = (ROOMY_PLACES / clients).clamp(1, MIN_PLACES);
    wanted
        .clamp(least, MAX_SLOTS_PER_CLIENT)
        .next_power_of_two()
}

/// So many clients have message IDs for all queries that an open loop has in flight if none is answered; `None` if the
/// schedule says no rate, or is no open loop.
pub fn clients_for_open_loop(config: &LoadConfig) -> Option<usize> {
    let in_flight = config.schedule.highest_qps()? * config.timeout.as_secs_f64();
    let threads = config.thread_count();
    // Threads share neither queries nor clients.
    let of_thread = (in_flight / threads as f64 / MAX_SLOTS_PER_CLIENT as f64) as usize + 1;
    Some(of_thread.saturating_mul(threads))
}

/// The most queries that each client of the stream sends within `window_ns`, capped at what a client can have in flight.
fn bursts(stream: &QueryStream, window_ns: u64) -> Vec<usize> {
    let count = stream.client_count() as usize;
    let mut most = vec![1; count];
    let mut lately: Vec<VecDeque<u64>> = vec![VecDeque::new(); count];
    for index in 0..stream.len() {
        let (Some(time_ns), Some(client)) = (stream.time_ns(index), stream.client(index)) else {
            continue;
        };
        let client = client as usize;
        let lately = &mut lately[client];
        while lately
            .front()
            .is_some_and(|first| first + window_ns < time_ns)
        {
            lately.pop_front();
        }
        if lately.len() < MAX_SLOTS_PER_CLIENT {
            lately.push_back(time_ns);
        }
        most[client] = lately.len().max(most[client]);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn clients_for_an_open_loop_have_a_place_for_every_query() {
        for (rate_qps, timeout_s, threads) in [
            (40_000.0, 5, 1),
            (40_000.0, 5, 2),
            (6_553.6, 5, 1),
            (1_000.0, 1, 3),
            (1_000_000.0, 5, 4),
        ] {
            let config = LoadConfig {
                schedule: ScheduleKind::FixedRate { rate_qps },
                timeout: Duration::from_secs(timeout_s),
                threads: Some(threads),
                ..LoadConfig::new(([127, 0, 0, 1], 53).into())
            };
            let clients = clients_for_open_loop(&config).unwrap();
            let config = config.with_clients(clients);
            let in_flight = rate_qps * timeout_s as f64 / threads as f64;
            for thread in 0..threads {
                let own = share(clients, thread, threads);
                let places = own * places_per_client(&config);
                assert!(places as f64 > in_flight, "{clients} clients");
                let fewer = (own - 1) * MAX_SLOTS_PER_CLIENT;
                assert!(fewer as f64 <= in_flight, "{clients} clients");
            }
        }
    }
}
