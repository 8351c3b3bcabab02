//! How much memory sorting may take where nothing is said.

use std::fs::read_to_string;
use std::path::Path;

/// The most that is taken.
const MOST: u64 = 4 << 30;
/// The least, however little is free: less would only make more temporary files.
const LEAST: u64 = 64 << 20;

/// A quarter of the memory that is available in the machine and in the control groups of this process, at most 4 GiB.
pub fn default_memory() -> usize {
    let available = available(Path::new("/")).unwrap_or(MOST);
    usize::try_from((available / 4).clamp(LEAST, MOST)).unwrap_or(usize::MAX)
}

/// Octets available, by what lies under `root`.
fn available(root: &Path) -> Option<u64> {
    let machine = read_to_string(root.join("proc/meminfo"))
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"))
        .map(|kibibytes| kibibytes * 1024);
    let groups = read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limited = groups.lines().filter_map(|line| in_group(root, line));
    machine.into_iter().chain(limited).min()
}

/// Octets left in a control group and those above it, by a line of /proc/self/cgroup; `None` if it limits no memory.
fn in_group(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, group) = (fields.next()?, fields.next()?);
    let (mount, limit, used, cache) = match controllers {
        "" => (
            "sys/fs/cgroup",
            "memory.max",
            "memory.current",
            "inactive_file",
        ),
        one if one.split(',').any(|name| name == "memory") => (
            "sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
        _ => return None,
    };
    let number = |file: &Path| read_to_string(file).ok()?.trim().parse::<u64>().ok();
    // In a container the group may be the root of what can be seen, whatever it is called.
    let groups = Path::new(group.trim_start_matches('/')).ancestors();
    groups
        .map(|group| root.join(mount).join(group))
        .filter_map(|folder| {
            let limit = number(&folder.join(limit))?;
            let used = number(&folder.join(used))?;
            let statistics = read_to_string(folder.join("memory.stat")).unwrap_or_default();
            // Cached files give way.
            let cached = field(&statistics, cache).unwrap_or(0);
            Some(limit.saturating_sub(used.saturating_sub(cached)))
        })
        .min()
}

/// The number behind `name` in lines of names and numbers.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name).filter(|rest| rest.starts_with(' ')))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::available;
    use std::fs;
    use std::path::Path;

    fn put(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_least_of_machine_and_groups_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(available(root), None);
        put(
            root,
            &[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   1000 kB\n")],
        );
        assert_eq!(available(root), Some(1_024_000));
        put(
            root,
            &[
                ("proc/self/cgroup", "1:cpu:/x\n0::/a/b\n"),
                ("sys/fs/cgroup/a/b/memory.max", "max\n"),
                ("sys/fs/cgroup/a/memory.max", "500000\n"),
                ("sys/fs/cgroup/a/memory.current", "400000\n"),
                (
                    "sys/fs/cgroup/a/memory.stat",
                    "anon 1\ninactive_file 50000\n",
                ),
            ],
        );
        assert_eq!(available(root), Some(150_000));
        put(
            root,
            &[
                ("proc/self/cgroup", "4:cpu,memory:/c\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "70000\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "80000\n"),
            ],
        );
        assert_eq!(available(root), Some(0));
    }
}
