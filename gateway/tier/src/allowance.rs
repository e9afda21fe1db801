//! Allowances of clients that several gateways charge together.
//!
//! One script on the server reads its clock, judges all allowances of a request, and charges them only if none is used up. So no
//! two gateways let the same request through, and no gateway's clock counts. The form is that of GCRA (the generic cell rate
//! algorithm of ITU-T I.371): an entry is the time at which the allowance is whole again, and expires then.

use crate::link::Commands;
use crate::resp::Reply;
use crate::stored::hex;

/// Script that returns the longest wait of all allowances, microseconds, or 0 if they were charged. An entry that lies further ahead than a
/// charge can put it is from a clock that was set back since.
const SCRIPT: &str = "\
local time = redis.call('TIME')
local now, wait, whole = time[1] * 1000000 + time[2], 0, {}
for at, name in ipairs(KEYS) do
  local interval, tolerance = tonumber(ARGV[2 * at - 1]), tonumber(ARGV[2 * at])
  local known = tonumber(redis.call('GET', name) or 0) or 0
  known = math.max(now, math.min(known, now + interval + tolerance))
  wait = math.max(wait, known - now - tolerance)
  whole[at] = known + interval
end
if wait == 0 then
  for at, name in ipairs(KEYS) do
    redis.call('SET', name, string.format('%.0f', whole[at]), 'PX', math.ceil((whole[at] - now) / 1000))
  end
end
return math.ceil(wait)";

/// One allowance of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Name among those of all gateways with the same prefix: the limit and the client.
    pub name: String,
    /// Time that one request uses up, microseconds.
    pub interval_us: u64,
    /// Time that requests may have used up ahead of the clock, microseconds.
    pub tolerance_us: u64,
}

/// The commands that charge these: by the script's hash, or with the script for a server that does not know it yet.
pub(crate) fn charge(prefix: &str, allowances: &[Allowance], is_known: bool) -> Commands {
    let (count, names): (_, Vec<String>) =
        (allowances.len().to_string(), allowances.iter().map(|one| format!("{prefix}rate:{}", one.name)).collect());
    let paces = allowances.iter().flat_map(|one| [one.interval_us.to_string(), one.tolerance_us.to_string()]);
    let paces: Vec<String> = paces.collect();
    let hash = hash();
    let script: [&[u8]; 2] = if is_known { [b"EVALSHA", hash.as_bytes()] } else { [b"EVAL", SCRIPT.as_bytes()] };
    let mut words = script.to_vec();
    words.push(count.as_bytes());
    words.extend(names.iter().chain(&paces).map(String::as_bytes));
    Commands::of(&words)
}

/// Wait in microseconds that the script answers.
pub(crate) fn wait_us(reply: &Reply) -> Option<u64> {
    if let Reply::Number(wait_us) = reply { u64::try_from(*wait_us).ok() } else { None }
}

/// Name that the server gives the script.
fn hash() -> &'static str {
    static HASH: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    HASH.get_or_init(|| {
        let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, SCRIPT.as_bytes());
        hex(digest.as_ref())
    })
}
