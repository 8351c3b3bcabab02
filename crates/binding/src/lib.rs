//! The Python module `dnsrig._core`: conversions, errors, interruption and progress, and nothing else.

mod arguments;
mod asked;
mod crypto_rates;
mod doorway;
mod errors;
mod generate;
mod internet;
mod internet_rebuilt;
mod keys;
mod load;
mod reading;
mod serve;
mod sign;
mod stream;
mod traffic;
mod traffic_anonymise;
mod traffic_select;
mod traffic_synthesise;
mod transactions;
mod zone;
mod zone_tools;

use pyo3::prelude::*;

/// The part of dnsrig that must be fast.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::asked::{AskedQueries, StandIns};
    #[pymodule_export]
    use super::crypto_rates::signing_rate;
    #[pymodule_export]
    use super::generate::generate_zone;
    #[pymodule_export]
    use super::internet::{Internet, InternetServer};
    #[pymodule_export]
    use super::internet_rebuilt::{RebuiltInternet, rebuild_internet};
    #[pymodule_export]
    use super::keys::{KeySet, ds_records};
    #[pymodule_export]
    use super::load::{
        find_breaking_point, judge_bottleneck, latency_percentiles, load, serve_echo,
    };
    #[pymodule_export]
    use super::serve::serve;
    #[pymodule_export]
    use super::sign::{sign_zone, verify_zone, zone_apex};
    #[pymodule_export]
    use super::stream::{QueryLog, QueryStream};
    #[pymodule_export]
    use super::traffic::{TrafficStatistics, traffic_merge, traffic_stats};
    #[pymodule_export]
    use super::traffic_anonymise::traffic_anonymise;
    #[pymodule_export]
    use super::traffic_select::{
        traffic_convert, traffic_filter, traffic_mix, traffic_partition, traffic_partition_files,
        traffic_sample, traffic_time_ns, traffic_warp,
    };
    #[pymodule_export]
    use super::traffic_synthesise::{
        traffic_fit, traffic_profile, traffic_profiles, traffic_synthesise,
    };
    #[pymodule_export]
    use super::transactions::{TransactionReader, TransactionWriter};
    #[pymodule_export]
    use super::zone::Zone;
    #[pymodule_export]
    use super::zone_tools::{
        zone_check, zone_compare, zone_join, zone_rules, zone_sort, zone_split, zone_survey,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
