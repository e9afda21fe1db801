//! A body that is cached and sent often, with the compressed forms that clients have asked for, and its parts if it is composed. It must
//! not know which cache has it.

use std::cell::{Cell, OnceCell as Once};
use std::rc::Rc;

use bytes::Bytes;
use sluice_compression::{Busy, Effort, Pool};
use sluice_esi::{Parser, Part};
use sluice_message::Coding;
use tokio::sync::OnceCell;

pub struct KeptBody {
    data: Bytes,
    /// Compressed forms. Each is made once, for the first client that asks; others that ask meanwhile wait for it. `None` if it would be no
    /// smaller or finds no room.
    forms: [OnceCell<Option<Bytes>>; Coding::ALL.len()],
    /// Bytes that forms may still take.
    room: Cell<usize>,
    has_forms: bool,
    /// Text and includes of which it is composed; `None` if they are too many to be cached.
    parts: Once<Option<Rc<Parts>>>,
}

/// Maximum number of compressed parts cached with a page. Pages with more are parsed each time.
const PARTS_MAX: usize = 64;

/// Parts of which a page is composed.
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    /// Tags that could not be read.
    pub(crate) faults: u64,
}

impl Parts {
    fn of(page: &Bytes) -> Self {
        let (mut parser, mut parts) = (Parser::new(), Vec::new());
        parser.push(page.clone(), &mut parts);
        parser.finish(&mut parts);
        Parts { parts, faults: parser.faults() }
    }
}

impl KeptBody {
    /// A body whose forms are kept with it if `has_forms`.
    pub(crate) fn new(data: Bytes, has_forms: bool) -> Rc<Self> {
        let room = Cell::new(if has_forms { data.len() } else { 0 });
        Rc::new(KeptBody { data, forms: Default::default(), room, has_forms, parts: Once::new() })
    }

    pub(crate) fn data(&self) -> &Bytes {
        &self.data
    }

    /// Parts of which the body is composed. Its text is not copied.
    pub(crate) fn parts(&self) -> Rc<Parts> {
        let mut made = None;
        let kept = self.parts.get_or_init(|| {
            let parts = Rc::new(Parts::of(&self.data));
            made = Some(Rc::clone(&parts));
            (parts.parts.len() <= PARTS_MAX).then_some(parts)
        });
        made.or_else(|| kept.clone()).unwrap_or_else(|| Rc::new(Parts::of(&self.data)))
    }

    /// Most bytes that the body takes with its compressed forms, so that a cache need not count again when there is one more.
    pub(crate) fn bytes(&self) -> usize {
        if self.has_forms { 2 * self.data.len() } else { self.data.len() }
    }

    /// Body in this coding; `None` if it is to be sent as it is.
    pub(crate) async fn form(&self, pool: &Pool, coding: Coding) -> Option<Bytes> {
        if !self.has_forms {
            return pool.whole(&self.data, coding, Effort::Once).await.ok().flatten();
        }
        let make = async || -> Result<Option<Bytes>, Busy> {
            let packed = pool.whole(&self.data, coding, Effort::Kept).await?;
            Ok(packed.filter(|packed| self.takes(packed.len())))
        };
        // Where all threads are busy the next client tries again.
        self.forms[coding as usize].get_or_try_init(make).await.ok().cloned().flatten()
    }

    fn takes(&self, bytes: usize) -> bool {
        let left = self.room.get().checked_sub(bytes);
        self.room.update(|room| left.unwrap_or(room));
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use sluice_compression::Limits;

    use super::*;

    fn pool(bodies_max: usize) -> Pool {
        Pool::new(Limits { threads: 1, nice: 0, bodies_max })
    }

    async fn sizes(body: &KeptBody, pool: &Pool) -> [Option<usize>; 3] {
        let mut sizes = [None; 3];
        for coding in Coding::ALL {
            sizes[coding as usize] = body.form(pool, coding).await.map(|form| form.len());
        }
        sizes
    }

    #[tokio::test(flavor = "current_thread")]
    async fn each_form_is_made_once_however_many_ask_for_it() {
        let (pool, body) = (pool(10), KeptBody::new("All work and no play. ".repeat(5_000).into(), true));
        let (first, second) = tokio::join!(body.form(&pool, Coding::Gzip), body.form(&pool, Coding::Gzip));
        assert!(first.is_some() && first == second);
        let found = sizes(&body, &pool).await;
        assert!(found.iter().all(Option::is_some), "{found:?}");
        assert_eq!(sizes(&body, &pool).await, found);
        assert_eq!(Coding::ALL.map(|coding| pool.counts().bodies(coding)), [1, 1, 1]);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn forms_take_no_more_than_was_counted_for_them() {
        // Made to two thirds, so that one form finds room.
        let noise: Vec<u8> = (0..90_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[3] & 0x1f).collect();
        let (pool, body) = (pool(10), KeptBody::new(noise.into(), true));
        let kept: usize = sizes(&body, &pool).await.iter().flatten().sum();
        assert!(kept > 0 && body.data().len() + kept <= body.bytes(), "{kept}");
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_client_that_finds_the_threads_busy_gets_the_body_as_it_is_and_the_next_one_the_form() {
        let (pool, body) = (pool(0), KeptBody::new("a".repeat(5_000).into(), true));
        assert_eq!(body.form(&pool, Coding::Zstd).await, None);
        pool.set_bodies_max(1);
        assert!(body.form(&pool, Coding::Zstd).await.is_some());
    }
}
