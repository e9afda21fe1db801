//! Tickets, with which clients resume a session without a full handshake (RFC 8446 §4.6.1, RFC 5077). Their keys are rotated, and are
//! passed to the gateway that takes over in an upgrade. They are never written to a file or a log.

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use tokio_rustls::rustls::server::ProducesTickets;

/// Time in seconds for which a key makes new tickets, and for which a ticket is valid at least.
const ROTATION_S: u32 = 6 * 60 * 60;
/// Maximum size of an examined ticket, bytes. Those of this gateway have a few hundred bytes. Longer ones would make
/// it cheaper to try many keys with one message.
const TICKET_BYTES_MAX: usize = 4096;

const NAME_BYTES: usize = 16;

/// The key that makes tickets and the one before it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketKeys {
    current: Key,
    previous: Option<Key>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    /// Name that each of its tickets carries.
    name: [u8; NAME_BYTES],
    secret: [u8; 32],
    made_unix_s: u64,
}

impl fmt::Debug for TicketKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TicketKeys(secret)")
    }
}

impl TicketKeys {
    fn new(now_unix_s: u64) -> Option<Self> {
        Some(Self { current: Key::new(now_unix_s)?, previous: None })
    }

    /// Replaces the key when its time is over, and forgets the one before when all its tickets have expired.
    fn rotate(&mut self, now_unix_s: u64) {
        if self.current.age_s(now_unix_s) >= u64::from(ROTATION_S)
            && let Some(fresh) = Key::new(now_unix_s)
        {
            self.previous = Some(std::mem::replace(&mut self.current, fresh));
        }
        self.previous.take_if(|key| key.age_s(now_unix_s) >= 2 * u64::from(ROTATION_S));
    }

    fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.current.seal(plain)
    }

    fn open(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let name = ticket.get(..NAME_BYTES).filter(|_| ticket.len() <= TICKET_BYTES_MAX)?;
        let key = [Some(&self.current), self.previous.as_ref()].into_iter().flatten().find(|key| key.name == *name)?;
        key.open(&ticket[NAME_BYTES..])
    }
}

impl Key {
    /// Makes a key; `None` if the system gives no randomness.
    fn new(now_unix_s: u64) -> Option<Self> {
        let mut key = Key { name: [0; NAME_BYTES], secret: [0; 32], made_unix_s: now_unix_s };
        let random = SystemRandom::new();
        random.fill(&mut key.name).and_then(|()| random.fill(&mut key.secret)).ok()?;
        Some(key)
    }

    fn age_s(&self, now_unix_s: u64) -> u64 {
        now_unix_s.saturating_sub(self.made_unix_s)
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.secret).ok().map(LessSafeKey::new)
    }

    /// Encrypts a ticket: name, nonce, ciphertext, tag.
    fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        // Random, because a counter would tell who came before whom, and two gateways may have the same key.
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut sealed = plain.to_vec();
        let (once, name) = (Nonce::assume_unique_for_key(nonce), Aad::from(self.name));
        self.cipher()?.seal_in_place_append_tag(once, name, &mut sealed).ok()?;
        Some([&self.name[..], &nonce, &sealed].concat())
    }

    /// Decrypts a ticket. `sealed` is the part after the name.
    fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let mut opened = sealed.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let plain_len = self.cipher()?.open_in_place(nonce, Aad::from(self.name), &mut opened).ok()?.len();
        opened.truncate(plain_len);
        Some(opened)
    }
}

/// Makes tickets and reads them.
pub(crate) struct Tickets(Mutex<TicketKeys>);

impl Tickets {
    /// # Errors
    /// Fails if the system gives no randomness.
    pub(crate) fn new() -> io::Result<Self> {
        let keys =
            TicketKeys::new(now_unix_s()).ok_or_else(|| io::Error::other("the system gives no random numbers"))?;
        Ok(Tickets(Mutex::new(keys)))
    }

    pub(crate) fn keys(&self) -> TicketKeys {
        self.lock().clone()
    }

    pub(crate) fn adopt(&self, keys: TicketKeys) {
        *self.lock() = keys;
    }

    fn lock(&self) -> MutexGuard<'_, TicketKeys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Current keys, after rotation.
    fn current(&self) -> TicketKeys {
        let mut keys = self.lock();
        keys.rotate(now_unix_s());
        keys.clone()
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Tickets")
    }
}

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        ROTATION_S
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.current().seal(plain)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.current().open(ticket)
    }
}

fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROTATION: u64 = ROTATION_S as u64;

    #[test]
    fn a_ticket_is_good_for_one_rotation_and_no_longer_than_two() {
        let mut keys = TicketKeys::new(1_000).unwrap();
        let early = keys.seal(b"early").unwrap();
        keys.rotate(1_000 + ROTATION - 1);
        let late = keys.seal(b"late").unwrap();
        keys.rotate(1_000 + 2 * ROTATION - 1);
        assert_eq!(keys.open(&early).as_deref(), Some(&b"early"[..]));
        assert_eq!(keys.open(&late).as_deref(), Some(&b"late"[..]));
        keys.rotate(1_000 + 2 * ROTATION);
        assert_eq!((keys.open(&early), keys.open(&late)), (None, None));
    }

    #[test]
    fn the_next_gateway_reads_tickets_of_this_one() {
        let (old, new) = (Tickets::new().unwrap(), Tickets::new().unwrap());
        let ticket = old.encrypt(b"session").unwrap();
        assert_eq!(new.decrypt(&ticket), None);
        let line = serde_json::to_string(&old.keys()).unwrap();
        new.adopt(serde_json::from_str(&line).unwrap());
        assert_eq!(new.decrypt(&ticket).as_deref(), Some(&b"session"[..]));
    }

    #[test]
    fn a_ticket_that_was_tampered_with_is_none() {
        let keys = TicketKeys::new(0).unwrap();
        let ticket = keys.seal(b"session").unwrap();
        for at in 0..ticket.len() {
            let mut forged = ticket.clone();
            forged[at] ^= 1;
            assert_eq!(keys.open(&forged), None, "byte {at}");
            assert_eq!(keys.open(&ticket[..at]), None, "the first {at} bytes");
        }
        assert_eq!(keys.open(&vec![0; TICKET_BYTES_MAX + 1]), None);
    }

    #[test]
    fn keys_are_in_no_debug_output() {
        let keys = TicketKeys { current: Key { name: [7; 16], secret: [9; 32], made_unix_s: 1 }, previous: None };
        assert_eq!(format!("{keys:?}"), "TicketKeys(secret)");
    }
}
