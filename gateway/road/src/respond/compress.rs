//! Compression of answers on their way to the client: the answers that are compressed, their encoding, and the changes in their heads. The
//! threads of [`sluice_compression`] do the compressing.

mod body;
mod kept;
mod policy;

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::config::Config;
use sluice_compression::{Counts, Effort, Limits, Pool};
use sluice_message::{Method, RequestHead};

use crate::answers::{Response, ResponseBody};
pub(crate) use body::CompressedBody;
pub(crate) use kept::KeptBody;
use policy::{Policy, Verdict};
use sluice_wire::ids::to_usize;
use sluice_wire::respond::encode::Size;

/// Number of CPUs for each thread that compresses: the workers need the others.
const CPUS_PER_THREAD: usize = 4;

/// The threads that compress, and their settings.
pub struct Compression {
    pool: Pool,
    in_force: RefCell<Rc<Policy>>,
}

impl Compression {
    pub(crate) fn new(config: &Config) -> Self {
        let limits = Limits {
            threads: threads(),
            nice: i32::try_from(config.bounds.worker_nice).unwrap_or(0),
            bodies_max: bodies_max(config),
        };
        Compression { pool: Pool::new(limits), in_force: RefCell::new(Rc::new(Policy::read(config))) }
    }

    /// Applies another config, except for the number of threads.
    pub(crate) fn set_config(&self, config: &Config) {
        self.pool.set_bodies_max(bodies_max(config));
        *self.in_force.borrow_mut() = Rc::new(Policy::read(config));
    }

    /// Whether cached bodies will be compressed.
    pub(crate) fn is_enabled(&self) -> bool {
        self.in_force.borrow().is_enabled
    }

    pub fn counts(&self) -> &Counts {
        self.pool.counts()
    }

    /// Compresses the answer if that is worth it and the client accepts it, and says so in its head. A cached answer is sent in a form that
    /// is cached with it. For another the compressor is returned, and the answer's size is no longer known.
    pub(crate) async fn apply(&self, request: &RequestHead, response: &mut Response) -> (Size, Option<CompressedBody>) {
        let size = response.size();
        let policy = Rc::clone(&self.in_force.borrow());
        let coding = match policy.verdict(request, &response.head, size) {
            Verdict::Never => return (size, None),
            Verdict::NotModified => {
                policy::weaken_as_asked(&mut response.head, request);
                return (size, None);
            }
            Verdict::Varies => {
                policy::vary(&mut response.head);
                return (size, None);
            }
            Verdict::Compress(coding) => coding,
        };
        policy::vary(&mut response.head);
        if request.method == Method::Head {
            // The same head as for GET, but for what only the compressed body tells.
            policy::announce(&mut response.head, coding);
            return (Size::Untold, None);
        }
        match &response.body {
            ResponseBody::Kept(body) => {
                if let Some(packed) = body.form(&self.pool, coding).await {
                    policy::announce(&mut response.head, coding);
                    response.body = ResponseBody::Whole(packed);
                }
                (response.size(), None)
            }
            // What is whole and not kept is short: an error, or the gateway's own.
            ResponseBody::Empty | ResponseBody::Whole(_) => (size, None),
            ResponseBody::File(_) | ResponseBody::Fill(..) => {
                let Some(stream) = self.pool.begin(coding, Effort::Once) else { return (size, None) };
                policy::announce(&mut response.head, coding);
                (Size::Unknown, Some(CompressedBody::new(stream, size)))
            }
        }
    }
}

fn threads() -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cpus / CPUS_PER_THREAD).max(1)
}

fn bodies_max(config: &Config) -> usize {
    to_usize(u64::from(config.bounds.compression_answers_max))
}
