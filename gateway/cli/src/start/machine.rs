//! The CPUs and the memory of this machine or container, read every two seconds for people who look at the gateway.
//!
//! Files of /proc are read on a thread for what blocks: on a machine with many CPUs that takes the kernel a millisecond.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use sluice_admin::Operator as _;
use sluice_catalog::snapshot::MachineSnapshot;

use super::memory;
use super::operator::Gateway;

const EVERY: Duration = Duration::from_secs(2);

/// CPU time of the machine since it started, in ticks of all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
    cpus: u32,
}

/// Starts what is kept for people who look: the history of the gateway, and this.
pub fn start(gateway: &Rc<Gateway>) {
    let watched = Rc::clone(gateway);
    gateway.tasks.spawn("history", async move { watched.live().run(&*watched).await });
    gateway.tasks.spawn("machine", run(Rc::clone(gateway)));
}

/// Reads, for as long as it is polled.
async fn run(gateway: Rc<Gateway>) {
    let mut before = None;
    loop {
        let Ok((ticks, mut machine)) = tokio::task::spawn_blocking(|| look(Path::new("/"))).await else { return };
        machine.cpu = before.zip(ticks).and_then(|(before, now)| cores(before, now));
        before = ticks;
        gateway.machine.set(Some(machine));
        tokio::time::sleep(EVERY).await;
    }
}

/// `root` is `/`, or a directory with files named as there.
fn look(root: &Path) -> (Option<Ticks>, MachineSnapshot) {
    let allowed = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
    let ticks = fs::read_to_string(root.join("proc/stat")).ok().and_then(|text| parse(&text));
    let memory = memory::usage(root);
    let cpus_allowed = allowed.unwrap_or(1);
    let machine = MachineSnapshot {
        cpus: ticks.map_or(cpus_allowed, |ticks| ticks.cpus),
        cpus_allowed,
        cpu: None,
        memory_bytes: memory.map(|memory| memory.used_bytes),
        memory_bytes_max: memory.map(|memory| memory.bytes_max),
        is_cgroup: memory.is_some_and(|memory| memory.is_cgroup),
    };
    (ticks, machine)
}

/// Lines `cpu` and `cpuN` of proc(5): user, nice, system, idle, iowait, irq, softirq, steal, and guests, which are in user.
fn parse(stat: &str) -> Option<Ticks> {
    let mut lines = stat.lines().take_while(|line| line.starts_with("cpu"));
    let mut times = lines.next()?.split_ascii_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    let mut sum = |fields: usize| times.by_ref().take(fields).sum::<u64>();
    let (worked, idle, served) = (sum(3), sum(2), sum(3));
    let busy = worked + served;
    Some(Ticks { busy, all: busy + idle, cpus: u32::try_from(lines.count()).ok()? })
}

#[allow(clippy::cast_precision_loss, reason = "ticks of two seconds")]
fn cores(before: Ticks, now: Ticks) -> Option<f64> {
    let all = now.all.saturating_sub(before.all);
    let busy = now.busy.saturating_sub(before.busy);
    (all > 0).then(|| (busy as f64 / all as f64).min(1.0) * f64::from(now.cpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str =
        "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 50 0 25 400 25 0 0 0 7 0\ncpu1 50 0 25 400 25 0 0 0 0 0\nintr 9\n";
    const NOW: &str = "cpu  200 0 100 840 60 0 0 0 9 0\ncpu0 1\ncpu1 1\nintr 9\n";

    #[test]
    fn cores_are_the_busy_part_of_the_time_that_all_cpus_had() {
        let (before, now) = (parse(BEFORE).unwrap(), parse(NOW).unwrap());
        assert_eq!(before, Ticks { busy: 150, all: 1000, cpus: 2 });
        assert_eq!(cores(before, now), Some(1.5));
        assert_eq!(cores(before, before), None, "no time has gone by");
    }

    #[test]
    fn machine_that_reports_nothing_is_no_fault() {
        let dir = tempfile::tempdir().unwrap();
        let (ticks, machine) = look(dir.path());
        assert_eq!((ticks, machine.memory_bytes), (None, None));
        assert_eq!(parse("intr 9\n"), None);
    }
}
