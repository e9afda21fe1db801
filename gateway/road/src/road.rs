//! State that requests share on their way to an answer: settings in force, caches, files, and what is known of rendering. Workers are
//! behind a trait: the road knows neither how one is chosen, nor how its answer comes.

pub(crate) mod other_routes;
pub mod rendering;
pub(crate) mod settings;
pub mod workers;

use std::cell::{OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use sluice_catalog::config::Config;
use sluice_journal::{Event, Level};
use sluice_observe::Observer;
use sluice_upstreams::Report;
use sluice_wire::front::lobby::Lobby;
use sluice_wire::front::tls::{Certificates, Tls};
use sluice_wire::ids::to_usize;
use sluice_wire::receive::spool::{TempStore, temp_dir};
use sluice_wire::respond::answer::Answer;
use tokio::time::Instant;

use crate::active::ActiveConfig;
use crate::admit::rate::{self, Rates};
use crate::answers::down::LastWords;
use crate::answers::files::Files;
use crate::answers::shell::Shells;
use crate::cache::Cache;
use crate::cache::pages::Pages;
use crate::certificates::renew::Renewals;
use crate::respond::Transforms;
use crate::respond::compose::rules::Composer;
use crate::respond::compress::Compression;
use crate::unusable::Unusable;
use rendering::Rendering;
use settings::Settings;
use workers::Workers;

/// Tells the operator of the health of upstreams.
fn report(observer: &Rc<Observer>) -> Report {
    let observer = Rc::clone(observer);
    Rc::new(move |is_worse, text| {
        observer.emit(Event::Note { level: if is_worse { Level::Warn } else { Level::Info }, text });
    })
}

/// See the module's text. One a gateway.
pub struct Road {
    /// Reference to itself, for tasks that outlast a call.
    me: Weak<Road>,
    workers: OnceCell<Weak<dyn Workers>>,
    pub(crate) settings: Rc<Settings>,
    /// Observer, which gets all events for the operator.
    pub observer: Rc<Observer>,
    /// The gateway as connections know it.
    pub lobby: Lobby,
    /// Room for bodies and answers.
    pub store: Rc<TempStore>,
    pub(crate) files: Files,
    /// Pages that are rendered once and sent to many.
    pub pages: Rc<Pages>,
    pub(crate) shells: Shells,
    /// Changes to answers on their way to clients.
    pub transforms: Transforms,
    /// Requests certificates from a CA.
    pub(crate) renewals: Renewals,
    /// Exit status and last output of the app in development, for the page about it.
    pub last_words: RefCell<Option<LastWords>>,
    rates: Option<RefCell<Rates>>,
    /// Shares of visitors who get server rendering.
    pub rendering: Rendering,
    /// Start of the clock by which the gateway measures.
    pub epoch: Instant,
}

impl Road {
    /// Road with these settings.
    ///
    /// # Errors
    /// Where a value of the config cannot be used.
    pub fn new(active: ActiveConfig, observer: Rc<Observer>) -> Result<Rc<Self>, Unusable> {
        let config = Rc::clone(&active.config);
        let rates = Rates::parse(&config)?.map(RefCell::new);
        let files = Files::new(&config.files)?;
        let tls = active.certificates.clone().map(|certificates| Tls::start(&config, certificates));
        let tls = tls.transpose().map_err(sluice_wire::Unusable::Tls)?;
        let tier = active.shared_cache.clone().map(sluice_tier::Tier::start).transpose();
        let tier = tier.map_err(Unusable::SharedThread)?;
        let store = TempStore::new(temp_dir(&config), config.temp.bytes_max, to_usize(config.memory.buffers_bytes_max));
        let (trust, epoch, settings) =
            (Rc::clone(&active.trust), Instant::now(), Rc::new(Settings::new(active, report(&observer))));
        Ok(Rc::new_cyclic(|me| Road {
            me: Weak::clone(me),
            workers: OnceCell::new(),
            lobby: Lobby::new(Rc::clone(&config), trust, tls, Rc::clone(&store)),
            store,
            files,
            pages: Pages::new(Cache::new(&config.cache, tier), &settings, &observer, epoch),
            shells: Shells::default(),
            transforms: Transforms { composer: Composer::new(&config.compose), compression: Compression::new(&config) },
            renewals: Renewals::default(),
            last_words: RefCell::default(),
            rates,
            rendering: Rendering::new(&settings, &observer, epoch),
            settings,
            observer,
            epoch,
        }))
    }

    /// Leads to these workers from now on. Called once, before the first request.
    ///
    /// # Panics
    /// When it is called again.
    pub fn lead_to(&self, workers: Weak<dyn Workers>) {
        assert!(self.workers.set(workers).is_ok(), "a road leads to one pool of workers");
    }

    /// The workers.
    pub(crate) fn workers(&self) -> Rc<dyn Workers> {
        self.workers.get().and_then(Weak::upgrade).expect("the workers' side outlasts all requests")
    }

    /// Strong reference, for a task that outlasts the call.
    pub(crate) fn rc(&self) -> Rc<Self> {
        self.me.upgrade().expect("whoever calls the road holds it")
    }

    /// Config in force. Two calls for one request may return different ones, as a reload can come in between.
    pub fn config(&self) -> Rc<Config> {
        self.settings.config()
    }

    /// Puts new contents of the same files in force.
    pub(crate) fn serve_certificates(&self, certificates: Arc<Certificates>) {
        if let Some(tls) = self.lobby.tls() {
            tls.serve(Arc::clone(&certificates));
        }
        self.settings.set_certificates(certificates);
    }

    /// Puts another config in force. Open connections keep their certificate.
    pub fn activate(&self, active: ActiveConfig) {
        let config = Rc::clone(&active.config);
        if let (Some(tls), Some(certificates)) = (self.lobby.tls(), &active.certificates) {
            tls.serve(Arc::clone(certificates));
        }
        self.lobby.set_config(Rc::clone(&config), Rc::clone(&active.trust));
        self.observer.traces.apply(active.traces.clone());
        self.observer.set_config(Rc::clone(&config));
        self.settings.swap(active);
        self.transforms.compression.set_config(&config);
        self.pages.cache.set_config(&config.cache);
        self.rendering.set_config(&config.render);
    }

    /// Counts a request of this client. If it is over its limit, returns the seconds after which it may ask again.
    pub(crate) async fn over_rate(&self, client: IpAddr, target: &str) -> Option<u32> {
        let rates = self.rates.as_ref()?;
        let now_ns = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let charged = rates.borrow_mut().charge(client, target, now_ns);
        let numbers = match charged {
            Ok(numbers) => numbers,
            Err(wait_s) => return Some(wait_s),
        };
        if numbers.is_empty() || !rates.borrow().is_shared {
            return None;
        }
        let allowances = rates.borrow().allowances(&numbers, client);
        // Without an answer the gateway's own count stands.
        let wait_us = self.pages.cache.charge(allowances).await?;
        (wait_us > 0).then(|| rate::seconds(wait_us.saturating_mul(1000)))
    }

    /// Answer that a worker is to give.
    pub fn new_answer(&self) -> Rc<Answer> {
        let config = self.config();
        let memory_bytes_max = to_usize(config.bounds.response_memory_bytes_max);
        Answer::new(&self.store, memory_bytes_max, config.response_file_bytes_max())
    }

    /// New answer whose head is already known.
    pub(crate) fn new_body(&self) -> Rc<Answer> {
        let config = self.config();
        let memory_bytes_max = to_usize(config.bounds.response_memory_bytes_max);
        Answer::body(&self.store, memory_bytes_max, config.response_file_bytes_max())
    }
}
