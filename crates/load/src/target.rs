//! Whom a load may hit without further ado: this machine.

use crate::LoadError;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ptr;

/// Refuses a server that is not on this machine, as seen from the caller's network namespace.
///
/// # Errors
/// [`LoadError::ForeignTarget`], and [`LoadError::System`] if the interfaces cannot be listed.
pub fn check(server: SocketAddr, allow_any_target: bool) -> Result<(), LoadError> {
    let address = server.ip().to_canonical();
    if allow_any_target || address.is_loopback() {
        return Ok(());
    }
    let own = own_addresses().map_err(|error| {
        LoadError::system("listing the addresses of this machine's interfaces", error)
    })?;
    if own.contains(&address) {
        Ok(())
    } else {
        Err(LoadError::ForeignTarget { server })
    }
}

/// The addresses of all interfaces.
fn own_addresses() -> io::Result<Vec<IpAddr>> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: `first` is a valid place for the list's head; the list is freed below.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut addresses = Vec::new();
    let mut entry = first;
    // SAFETY: `entry` is null or an entry of the list, which lives until freeifaddrs.
    while let Some(interface) = unsafe { entry.as_ref() } {
        // SAFETY: `ifa_addr` is null or a socket address of the kind that its family says.
        addresses.extend(unsafe { to_address(interface.ifa_addr) });
        entry = interface.ifa_next;
    }
    // SAFETY: `first` came from getifaddrs and is freed once.
    unsafe { libc::freeifaddrs(first) };
    Ok(addresses)
}

/// # Safety
/// `address` is null or points to a socket address of the kind that its family says.
unsafe fn to_address(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: as the function's own contract.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let v4 = &*address.cast::<libc::sockaddr_in>();
                Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let v6 = &*address.cast::<libc::sockaddr_in6>();
                Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_may_be_loaded_and_others_not() {
        for own in [
            "127.0.0.1:53",
            "127.1.2.3:53",
            "[::1]:53",
            "[::ffff:127.0.0.1]:53",
        ] {
            assert!(check(own.parse().unwrap(), false).is_ok(), "{own}");
        }
        for other in ["192.0.2.1:53", "[2001:db8::1]:53", "0.0.0.0:53"] {
            let error = check(other.parse().unwrap(), false).unwrap_err();
            assert!(error.to_string().contains("--i-may-load-this"), "{error}");
            assert!(check(other.parse().unwrap(), true).is_ok());
        }
    }

    #[test]
    fn own_addresses_may_be_loaded() {
        let own = own_addresses().unwrap();
        assert!(own.iter().any(IpAddr::is_loopback));
        for address in own {
            assert!(
                check(SocketAddr::new(address, 53), false).is_ok(),
                "{address}"
            );
        }
    }
}
