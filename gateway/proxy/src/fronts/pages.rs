//! What a front answers by itself: kept pages that the core has [granted](crate::cache::grant), while they are fresh. It judges a request
//! as the core's road would up to its look into the cache, and leaves to the core whatever it has no answer to.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use sluice_catalog::config::Config;
use sluice_message::{Method, RequestHead, ResponseHead, Scheme};

use crate::answers::Size;
use crate::cache::Keys;
use crate::cache::grant::Grant;
use crate::cache::reply::{fresh, has_conditions};
use crate::front::connection::canonical;
use crate::receive::trust::Trust;
use crate::request::passage::Asked;
use crate::respond::compress::{Form, Policy, Verdict, announce, vary};
use crate::respond::tell_hsts;
use crate::upstream::forward::Origin;

/// Granted pages that a front has. Their bytes are the core's, as long as it keeps them too.
const PAGES_MAX: usize = 4096;
/// Variants of one of them.
const VARIANTS_MAX: usize = 8;
/// Answers of a front that the core has not taken note of: beyond it requests go to the core, which then is the bottleneck.
const UNHEARD_MAX: usize = 4096;

pub(crate) struct Pages {
    /// None where no page is kept.
    keys: Option<Keys>,
    in_force: RefCell<InForce>,
    kept: RefCell<HashMap<Box<str>, Vec<Rc<Grant>>>>,
    unheard: Unheard,
}

/// What a reload may change.
struct InForce {
    trust: Trust,
    compression: Policy,
    hsts_max_age_s: u64,
}

impl InForce {
    fn of(config: &Config, trust: Trust) -> Self {
        InForce { trust, compression: Policy::read(config), hsts_max_age_s: config.server.hsts_max_age_s }
    }
}

/// How many answers the core has still to take note of, for both sides.
#[derive(Clone, Default)]
pub(crate) struct Unheard(Arc<AtomicUsize>);

impl Unheard {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn hear(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_full(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= UNHEARD_MAX
    }
}

/// What comes of a request here.
pub(super) enum Found {
    Page(Page),
    /// The core may grant the page.
    Nothing,
    /// The core alone can answer it.
    NotHere,
}

/// An answer, and the key of its page.
pub(super) struct Page {
    pub(super) key: String,
    pub(super) head: ResponseHead,
    pub(super) data: Bytes,
}

impl Page {
    pub(super) fn size(&self) -> Size {
        Size::Known(self.data.len() as u64)
    }
}

impl Pages {
    pub(super) fn new(config: &Config, trust: Trust, unheard: Unheard) -> Self {
        Pages {
            keys: config.cache.enabled.then(|| Keys::new(&config.cache)),
            in_force: RefCell::new(InForce::of(config, trust)),
            kept: RefCell::default(),
            unheard,
        }
    }

    /// Another config is in force. What the core grants under it comes after this.
    pub(super) fn set_config(&self, config: &Config, trust: Trust) {
        self.kept.borrow_mut().clear();
        *self.in_force.borrow_mut() = InForce::of(config, trust);
    }

    /// What is known of a connection; `None` where nothing of that is needed.
    pub(super) fn origin(&self, peer: SocketAddr, local: SocketAddr, scheme: Scheme) -> Option<Rc<Origin>> {
        self.keys.as_ref()?;
        let in_force = self.in_force.borrow();
        Some(Rc::new(Origin::new(&in_force.trust, canonical(peer), canonical(local), scheme)))
    }

    /// Looks again whether the peer is trusted.
    pub(super) fn judge(&self, origin: &mut Rc<Origin>) {
        let is_trusted = self.in_force.borrow().trust.allows(origin.peer);
        if is_trusted != origin.is_trusted {
            Rc::make_mut(origin).is_trusted = is_trusted;
        }
    }

    /// Takes a page that the core grants.
    pub(super) fn take(&self, grant: Grant) {
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= PAGES_MAX && !kept.contains_key(&grant.key) {
            // As good as any other. A look for one that is of no use would cost every page here, with each grant.
            let some = kept.keys().next().cloned();
            some.map(|key| kept.remove(&key));
        }
        let variants = kept.entry(grant.key.clone()).or_default();
        variants.retain(|other| other.is_live() && other.policy.dimensions != grant.policy.dimensions);
        variants.truncate(VARIANTS_MAX - 1);
        variants.insert(0, Rc::new(grant));
    }

    /// Lets go of pages that are not to be answered with any more. Called every now and then: they take memory.
    pub(super) fn sweep(&self) {
        forget_dead(&mut self.kept.borrow_mut());
    }

    /// The answer to a request without a body.
    pub(super) fn find(&self, (head, upgrade): &Asked, origin: &Origin) -> Found {
        let Some(keys) = &self.keys else { return Found::NotHere };
        let is_plain = head.method == Method::Get && upgrade.is_none() && !has_conditions(&head.fields);
        if !is_plain || self.unheard.is_full() || !origin.hides_nothing(&head.fields) {
            return Found::NotHere;
        }
        let Some(key) = keys.key(head, origin) else { return Found::NotHere };
        let Some(grant) = self.grant(&key, head) else { return Found::Nothing };
        self.answer(key, &grant, head).map_or(Found::Nothing, Found::Page)
    }

    fn grant(&self, key: &str, head: &RequestHead) -> Option<Rc<Grant>> {
        let kept = self.kept.borrow();
        let variants = kept.get(key)?;
        let now = variants.first()?.moment();
        variants.iter().find(|grant| grant.answers(&head.fields, now)).cloned()
    }

    /// As the core's `respond` would send the page; `None` where that needs the threads that compress.
    fn answer(&self, key: String, grant: &Grant, request: &RequestHead) -> Option<Page> {
        let in_force = self.in_force.borrow();
        let mut head = fresh(grant.moment(), &grant.head, &grant.policy);
        tell_hsts(in_force.hsts_max_age_s, request.scheme, &mut head);
        let size = Size::Known(grant.data.len() as u64);
        let data = match in_force.compression.verdict(request, &head, size) {
            Verdict::Never | Verdict::NotModified => grant.data.clone(),
            Verdict::Varies => {
                vary(&mut head);
                grant.data.clone()
            }
            Verdict::Compress(coding) => {
                vary(&mut head);
                match grant.forms.of(coding) {
                    Form::Unknown => return None,
                    Form::Plain => grant.data.clone(),
                    Form::Packed(packed) => {
                        announce(&mut head, coding);
                        packed.clone()
                    }
                }
            }
        };
        Some(Page { key, head, data })
    }
}

fn forget_dead(kept: &mut HashMap<Box<str>, Vec<Rc<Grant>>>) {
    kept.retain(|_, variants| {
        variants.retain(|grant| grant.is_live());
        !variants.is_empty()
    });
}
