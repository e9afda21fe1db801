//! Checks names and passwords. A hash is slow on purpose, so it is computed on a thread of its own, one at a time. It is not computed for a
//! pair that was right lately, nor for addresses that have been wrong too often.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::{self, PasswordHash, Rate};
use sluice_catalog::errors::Code;
use sluice_message::RequestHead;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::credentials::{CredentialCache, Credentials};
use crate::admit::rate::{Key, NS_PER_S, Pace, Table};
use sluice_wire::receive::failure::Refusal;
use sluice_wire::receive::spool::blocking;

pub(crate) type Users = BTreeMap<String, PasswordHash>;

/// Maximum number of waiting logins. Each takes as long as a hash.
const WAITING_MAX: usize = 32;
/// Maximum number of addresses whose wrong passwords are counted.
const ADDRESSES_MAX: usize = 10_000;
/// Limit on wrong passwords of one address; an IPv6 network of 64 bits counts as one.
const WRONG: Rate = Rate { count: 6, period_s: 60, burst: 10 };
/// Maximum length of a password, bytes. bcrypt reads no more bytes, so a longer one would be as good as its
/// beginning.
const PASSWORD_BYTES_MAX: usize = 72;

/// Value of `WWW-Authenticate`. Browsers no longer show the realm.
const CHALLENGE: &str = "Basic realm=\"Restricted\", charset=\"UTF-8\"";

/// The users, and the state of login attempts.
pub(crate) struct Login {
    users: Users,
    exempt: Vec<String>,
    challenge: Rc<str>,
    verified: RefCell<CredentialCache>,
    wrong: RefCell<Table>,
    pace: Pace,
    epoch: Instant,
    turn: Semaphore,
    waiting: Cell<usize>,
}

impl Login {
    pub(crate) fn new(settings: &config::Access, users: Users) -> Self {
        Login {
            users,
            exempt: settings.basic_auth_exempt.clone(),
            challenge: CHALLENGE.into(),
            verified: RefCell::new(CredentialCache::new()),
            wrong: RefCell::new(Table::new(ADDRESSES_MAX)),
            pace: Pace::of(WRONG),
            epoch: Instant::now(),
            turn: Semaphore::new(1),
            waiting: Cell::new(0),
        }
    }

    /// Lets the request of a user through, without its credentials, and any request for an exempt path as it is. Returns whether it is a
    /// user's.
    pub(crate) async fn admit(&self, client: IpAddr, head: &mut RequestHead) -> Result<bool, Refusal> {
        if self.exempt.iter().any(|exempt| is_plainly_below(head.path(), exempt)) {
            return Ok(false);
        }
        let Some(credentials) = Credentials::of(&head.fields) else { return Err(self.refusal("")) };
        self.verify(client.to_canonical(), credentials).await?;
        head.fields.retain(|name, _| !name.eq_ignore_ascii_case("authorization"));
        Ok(true)
    }

    async fn verify(&self, client: IpAddr, credentials: Credentials) -> Result<(), Refusal> {
        let tag = self.verified.borrow().tag(&credentials);
        let is_known = || self.verified.borrow().contains(tag, Instant::now());
        if is_known() {
            return Ok(());
        }
        self.look_for_patience(client)?;
        let _place = LoginTicket::take(&self.waiting).ok_or_else(|| limited(1))?;
        let _turn = self.turn.acquire().await.map_err(|_| limited(1))?;
        // Another request of the same user, or of the same address, may have been before this one.
        if is_known() {
            return Ok(());
        }
        self.look_for_patience(client)?;
        if self.is_right(credentials).await {
            self.verified.borrow_mut().insert(tag, Instant::now());
            return Ok(());
        }
        let _ = self.wrong.borrow_mut().take(Key::of(0, client), self.pace, self.now_ns());
        Err(self.refusal("the name or the password is wrong"))
    }

    /// Checks the password. This takes as long for an unknown name as for a known one, if all hashes have one cost.
    async fn is_right(&self, credentials: Credentials) -> bool {
        let Credentials { name, password } = credentials;
        let user = self.users.get(&name);
        let Some(hash) = user.or_else(|| self.users.values().next()) else { return false };
        let (hash, is_user) = (hash.clone(), user.is_some() && password.len() <= PASSWORD_BYTES_MAX);
        let matches = blocking(move || Ok(bcrypt::verify(&password, hash.as_str()).unwrap_or(false))).await;
        matches.unwrap_or(false) && is_user
    }

    /// Refuses an address with too many wrong passwords, before any work is done for it.
    fn look_for_patience(&self, client: IpAddr) -> Result<(), Refusal> {
        let now_ns = self.now_ns();
        let whole_at_ns = self.wrong.borrow().whole_at_ns(Key::of(0, client)).unwrap_or(now_ns);
        match self.pace.after(whole_at_ns, now_ns) {
            Ok(_) => Ok(()),
            Err(wait_ns) => Err(limited(u32::try_from(wait_ns.div_ceil(NS_PER_S)).unwrap_or(u32::MAX))),
        }
    }

    fn refusal(&self, detail: &'static str) -> Refusal {
        Refusal { detail, challenge: Some(Rc::clone(&self.challenge)), ..Refusal::of(Code::LoginRequired) }
    }

    fn now_ns(&self) -> u64 {
        let since: Duration = Instant::now().saturating_duration_since(self.epoch);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

fn limited(wait_s: u32) -> Refusal {
    Refusal { retry_after_s: Some(wait_s.max(1)), ..Refusal::of(Code::LoginLimited) }
}

/// Whether every app reads this path as one at or below `exempt`: the rest has no escapes, no backslash, no empty name and none that begins
/// with a dot.
fn is_plainly_below(path: &str, exempt: &str) -> bool {
    let Some(rest) = path.strip_prefix(exempt.trim_end_matches('/')) else { return false };
    let is_below = rest.is_empty() || rest.starts_with('/');
    is_below && !rest.contains(['%', '\\']) && !rest.contains("//") && !rest.contains("/.")
}

/// Place among the waiting logins.
struct LoginTicket<'l>(&'l Cell<usize>);

impl<'l> LoginTicket<'l> {
    fn take(waiting: &'l Cell<usize>) -> Option<Self> {
        let count = waiting.get();
        (count < WAITING_MAX).then(|| {
            waiting.set(count + 1);
            LoginTicket(waiting)
        })
    }
}

impl Drop for LoginTicket<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
