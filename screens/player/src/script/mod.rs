//! The app's bundle on QuickJS, and what it finds there.

mod words;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rquickjs::function::Opt;
use rquickjs::{
    Array, CatchResultExt, CaughtError, Context, Ctx, Error, Exception, Function, Module, Object, Persistent, Runtime,
    TypedArray, Value,
};
use rustc_hash::FxHashMap;

use self::words::Text;
use crate::clock::Clock;
use crate::net::{Answer, Asked, Sources};
use crate::output;
use crate::stream::{Batch, Events, STRINGS_MAX};

/// Bounds of an app.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the heap.
    pub memory: usize,
    /// Bytes of the stack.
    pub stack: usize,
    /// How long the app may run without a pause.
    pub turn: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 256 << 20, stack: 1 << 20, turn: Duration::from_secs(10) }
    }
}

/// What takes the app's batches.
pub trait Surface {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);
    /// Applies a batch, or says why not.
    ///
    /// # Errors
    ///
    /// The rule that it breaks.
    fn commit(&mut self, batch: &Batch) -> Result<(), String>;
}

type Stored = Persistent<Function<'static>>;
type Fetched = (u32, Result<Answer, String>);

struct Timer {
    repeat: Option<f64>,
    run: Stored,
}

/// Timers in the order in which they run.
#[derive(Default)]
struct Timers {
    /// By moment, whose bits have the order of the numbers as none is below 0, and by number.
    by_due: BTreeMap<(u64, u32), Timer>,
    due: FxHashMap<u32, u64>,
}

impl Timers {
    fn insert(&mut self, id: u32, due: f64, timer: Timer) {
        self.due.insert(id, due.to_bits());
        self.by_due.insert((due.to_bits(), id), timer);
    }

    fn remove(&mut self, id: u32) {
        if let Some(due) = self.due.remove(&id) {
            self.by_due.remove(&(due, id));
        }
    }

    /// The first timer that is due at `now`; one that repeats stays, for later.
    fn take(&mut self, now: f64, last: u32) -> Option<Stored> {
        let first = self.by_due.first_entry().filter(|first| *first.key() <= (now.to_bits(), last))?;
        let ((due, id), timer) = first.remove_entry();
        self.due.remove(&id);
        let run = timer.run.clone();
        if let Some(every) = timer.repeat {
            // Runs that were missed are left out.
            self.insert(id, (f64::from_bits(due) + every).max(now + 0.001), timer);
        }
        Some(run)
    }
}

/// What functions that the app calls share with the engine.
struct Shared {
    clock: Rc<Clock>,
    sources: Sources,
    surface: Rc<RefCell<dyn Surface>>,
    batch: RefCell<Batch>,
    timers: RefCell<Timers>,
    ids: Cell<u32>,
    listener: RefCell<Option<Stored>>,
    idle: RefCell<VecDeque<Stored>>,
    /// Requests without an answer.
    fetches: RefCell<FxHashMap<u32, Stored>>,
    /// Those of them that no thread has taken.
    waiting: RefCell<VecDeque<(u32, Asked)>>,
    fetched: Sender<Fetched>,
    /// Promises that nobody handles, each with its reason.
    rejections: RefCell<Vec<[Persistent<Value<'static>>; 2]>>,
    /// Errors that nobody caught.
    failures: Cell<u32>,
    /// Whether `console.log` and `console.info` go to the standard output.
    logs_to_stdout: Cell<bool>,
    /// Whether errors are fatal: the app ran too long.
    stopped: Cell<bool>,
    /// Moment at which the app has run too long.
    deadline: Cell<Option<Instant>>,
}

impl Shared {
    /// Starts requests that wait, as long as there are threads for them.
    fn start_fetches(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while self.fetches.borrow().len() - waiting.len() < FETCHES_MAX {
            let Some((id, asked)) = waiting.pop_front() else { break };
            let (sources, fetched) = (self.sources.clone(), self.fetched.clone());
            std::thread::spawn(move || fetched.send((id, sources.ask(&asked))));
        }
    }
}

/// QuickJS with the player's globals.
pub struct Engine {
    runtime: Runtime,
    context: Context,
    shared: Rc<Shared>,
    answers: Receiver<Fetched>,
    turn: Duration,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Most threads that fetch at once; further requests wait for one of them.
const FETCHES_MAX: usize = 16;
/// Most timers, most pieces of idle work, and most requests that wait at once.
const WAITING_MAX: usize = 1 << 16;
/// Rejections of one turn that are told in full.
const REJECTIONS_TOLD: usize = 100;
/// Most bytes of all strings of a batch.
const BATCH_BYTES_MAX: usize = 1 << 26;

impl Engine {
    /// An engine whose app finds `surface` as `sluiceSurface`.
    ///
    /// # Errors
    ///
    /// If the engine cannot start, which memory alone could be the reason of.
    pub fn new(
        limits: Limits,
        clock: Rc<Clock>,
        sources: Sources,
        surface: Rc<RefCell<dyn Surface>>,
    ) -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        let (fetched, answers) = channel();
        let shared = Rc::new(Shared {
            clock,
            sources,
            surface,
            batch: RefCell::default(),
            timers: RefCell::default(),
            ids: Cell::new(0),
            listener: RefCell::default(),
            idle: RefCell::default(),
            fetches: RefCell::default(),
            waiting: RefCell::default(),
            fetched,
            rejections: RefCell::default(),
            failures: Cell::new(0),
            logs_to_stdout: Cell::new(false),
            stopped: Cell::new(false),
            deadline: Cell::new(None),
        });
        let timed = shared.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            let is_over = timed.deadline.get().is_some_and(|deadline| Instant::now() > deadline);
            if is_over {
                timed.stopped.set(true);
            }
            is_over
        })));
        let tracked = shared.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            let mut rejections = tracked.rejections.borrow_mut();
            if is_handled {
                rejections.retain(|[other, _]| other.clone().restore(&ctx).is_ok_and(|other| other != promise));
            } else {
                // Described later: that runs code of the app, which may reject another promise.
                rejections.push([promise, reason].map(|value| Persistent::save(&ctx, value)));
            }
        })));
        let engine = Self { runtime, context, shared, answers, turn: limits.turn };
        engine.turn(|ctx, shared| install(ctx, shared).catch(ctx).map_err(|error| caught(&error)))?;
        Ok(engine)
    }

    /// Runs `with` with the app's clock for running too long.
    fn turn<T>(&self, with: impl FnOnce(&Ctx<'_>, &Rc<Shared>) -> T) -> T {
        self.shared.deadline.set(Some(Instant::now() + self.turn));
        let result = self.context.with(|ctx| with(&ctx, &self.shared));
        self.shared.deadline.set(None);
        result
    }

    /// Gives a script what benchmarks need: `console.log` and `console.info` go to the standard output, `gc()` frees what nothing refers to, and
    /// `heapObjects()` is the number of objects.
    ///
    /// # Errors
    ///
    /// Of the engine.
    pub fn set_up_bench(&self) -> Result<(), String> {
        self.shared.logs_to_stdout.set(true);
        let installed = self.context.with(|ctx| {
            let globals = ctx.globals();
            globals.set("gc", Function::new(ctx.clone(), |ctx: Ctx<'_>| words::collect_garbage(&ctx))?)?;
            globals.set("heapObjects", Function::new(ctx.clone(), |ctx: Ctx<'_>| words::heap(&ctx).1)?)
        });
        installed.map_err(|error| error.to_string())
    }

    /// Gives the script its arguments, as `scriptArgs`.
    ///
    /// # Errors
    ///
    /// Of the engine.
    pub fn set_arguments(&self, arguments: &[String]) -> Result<(), String> {
        self.context.with(|ctx| ctx.globals().set("scriptArgs", arguments.to_vec())).map_err(|error| error.to_string())
    }

    /// Runs a bundle: an ES module if it has imports or exports, or a name that ends with `.mjs`; a classic script otherwise.
    pub fn run(&self, name: &str, source: &str) {
        let is_module =
            std::path::Path::new(name).extension().is_some_and(|kind| kind == "mjs") || has_module_syntax(source);
        let problem = self.turn(|ctx, _| {
            let result = if is_module {
                Module::evaluate(ctx.clone(), name, source).map(|promise| {
                    // Its rejection is told by the tracker of rejections.
                    drop(promise);
                })
            } else {
                let mut options = rquickjs::context::EvalOptions::default();
                options.strict = false;
                options.global = true;
                options.filename = Some(name.to_owned());
                ctx.eval_with_options::<Value<'_>, _>(source, options).map(drop)
            };
            result.catch(ctx).err().map(|error| caught(&error))
        });
        self.report(problem);
        self.drain();
    }

    fn report(&self, problem: Option<String>) {
        let Some(problem) = problem else { return };
        self.shared.failures.set(self.shared.failures.get() + 1);
        if self.shared.stopped.get() {
            output::tell(&format!(
                "sluice-player: the app ran for more than {} ms without a pause; --turn-limit MS sets the bound\n{problem}",
                self.turn.as_millis()
            ));
        } else if problem == "null" || problem.contains("out of memory") {
            // Without memory for an error, the engine throws null.
            output::tell(&format!(
                "Uncaught {problem}\nsluice-player: the app is out of memory, or threw null; --memory MB sets the bound"
            ));
        } else {
            output::tell(&format!("Uncaught {problem}"));
        }
    }

    /// Runs what promises have to do, then tells of rejections that nobody handles.
    fn drain(&self) {
        let problems = self.turn(|ctx, shared| {
            let mut problems = Vec::new();
            while !shared.stopped.get() && ctx.execute_pending_job() {
                if ctx.has_exception() {
                    problems.push(caught(&CaughtError::from_error(ctx, Error::Exception)));
                }
            }
            problems
        });
        for problem in problems {
            self.report(Some(problem));
        }
        self.tell_rejections();
        if self.shared.stopped.get() && self.shared.failures.get() == 0 {
            self.report(Some(String::new()));
        }
    }

    fn tell_rejections(&self) {
        let mut rejections = self.shared.rejections.take().into_iter();
        for [_, reason] in rejections.by_ref().take(REJECTIONS_TOLD) {
            if self.shared.stopped.get() {
                break;
            }
            let problem = self.turn(|ctx, _| {
                let reason = reason.restore(ctx).map_err(|error| error.to_string());
                reason.map_or_else(|error| error, |reason| described(&reason))
            });
            self.report(Some(format!("(in a promise) {problem}")));
        }
        let rest = u32::try_from(rejections.len()).unwrap_or(u32::MAX);
        if rest > 0 {
            self.shared.failures.set(self.shared.failures.get().saturating_add(rest));
            output::tell(&format!("Uncaught (in a promise) {rest} more"));
        }
    }

    fn call(&self, run: &Stored) {
        let problem = self.turn(|ctx, _| {
            let result = run.clone().restore(ctx).and_then(|run| run.call::<_, Value<'_>>(()));
            result.catch(ctx).err().map(|error| caught(&error))
        });
        self.report(problem);
        self.drain();
    }

    /// Delivers events to the app.
    pub fn deliver(&self, events: &mut Events) {
        if events.is_empty() {
            return;
        }
        let Events { words, strings } = std::mem::take(events);
        let listener = self.shared.listener.borrow().clone();
        let Some(listener) = listener else { return };
        let problem = self.turn(|ctx, _| {
            let length = words.len();
            let result = TypedArray::<i32>::new(ctx.clone(), words)
                .and_then(|words| listener.restore(ctx)?.call::<_, Value<'_>>((words, length, strings)));
            result.catch(ctx).err().map(|error| caught(&error))
        });
        self.report(problem);
        self.drain();
    }

    /// Runs timers that are due, in order. Those that they set wait for the next call.
    pub fn run_timers(&self) {
        let now = self.shared.clock.now();
        let last = self.shared.ids.get();
        loop {
            let Some(timer) = self.shared.timers.borrow_mut().take(now, last) else { break };
            self.call(&timer);
            if self.is_stopped() {
                break;
            }
        }
    }

    /// Moment of the next timer; those that repeat count if `with_repeating`.
    pub fn next_timer(&self, with_repeating: bool) -> Option<f64> {
        let timers = self.shared.timers.borrow();
        let mut counting = timers.by_due.iter().filter(|(_, timer)| with_repeating || timer.repeat.is_none());
        counting.next().map(|((due, _), _)| f64::from_bits(*due))
    }

    /// Runs one piece of idle work, whose `deadline()` begins with `left` milliseconds. Says whether there was one.
    pub fn run_idle(&self, left: f64) -> bool {
        let Some(run) = self.shared.idle.borrow_mut().pop_front() else { return false };
        let clock = self.shared.clock.clone();
        let end = clock.now() + left;
        let asked = Cell::new(0.0);
        let problem = self.turn(|ctx, _| {
            let deadline = Function::new(ctx.clone(), move || {
                // A virtual clock stands: each question counts as a millisecond.
                if clock.is_virtual() {
                    asked.set(asked.get() + 1.0);
                }
                (end - clock.now() - asked.get()).max(0.0)
            });
            let result = deadline.and_then(|deadline| run.restore(ctx)?.call::<_, Value<'_>>((deadline,)));
            result.catch(ctx).err().map(|error| caught(&error))
        });
        self.report(problem);
        self.drain();
        true
    }

    /// Whether the app waits for idle time.
    pub fn has_idle(&self) -> bool {
        !self.shared.idle.borrow().is_empty()
    }

    /// Requests without an answer.
    pub fn fetches(&self) -> usize {
        self.shared.fetches.borrow().len()
    }

    /// Hands answers to the app; with `wait`, at least one if there is a request.
    pub fn take_answers(&self, wait: bool) {
        let mut wait = wait;
        while self.fetches() > 0 {
            let answer =
                if std::mem::take(&mut wait) { self.answers.recv().ok() } else { self.answers.try_recv().ok() };
            let Some((id, answer)) = answer else { break };
            let run = self.shared.fetches.borrow_mut().remove(&id);
            self.shared.start_fetches();
            let Some(run) = run else { continue };
            let problem = self.turn(|ctx, _| {
                let result = run.restore(ctx).and_then(|run| match answer {
                    Ok(answer) => {
                        let text = String::from_utf8_lossy(&answer.body).into_owned();
                        let headers = answer.headers.into_iter().flat_map(|(name, value)| [name, value]);
                        let headers: Vec<String> = headers.collect();
                        run.call::<_, Value<'_>>((rquickjs::Undefined, answer.status, headers, text))
                    }
                    Err(problem) => run.call((problem,)),
                });
                result.catch(ctx).err().map(|error| caught(&error))
            });
            self.report(problem);
            self.drain();
        }
    }

    /// Errors that nobody caught.
    pub fn failures(&self) -> u32 {
        self.shared.failures.get()
    }

    /// Whether the app ran too long: nothing of it runs any more.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.get()
    }

    /// Bytes of the engine's heap.
    pub fn heap(&self) -> i64 {
        self.runtime.memory_usage().malloc_size
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Functions of the app have to go before the engine.
        let shared = &self.shared;
        shared.timers.take();
        shared.listener.take();
        shared.idle.take();
        shared.fetches.take();
        shared.rejections.take();
        self.runtime.set_interrupt_handler(None);
        self.runtime.set_host_promise_rejection_tracker(None);
    }
}

fn described(value: &Value<'_>) -> String {
    match value.as_object().and_then(|object| Exception::from_object(object.clone())) {
        Some(exception) => caught(&CaughtError::Exception(exception)),
        None => caught(&CaughtError::Value(value.clone())),
    }
}

/// An error with its stack, for people.
fn caught(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Error(error) => error.to_string(),
        CaughtError::Exception(exception) => {
            let name: String = exception.as_object().get("name").unwrap_or_else(|_| "Error".to_owned());
            let message = exception.as_object().get("message").map_or_else(|_| String::new(), |Text(message)| message);
            let stack = exception.stack().unwrap_or_default();
            format!("{name}: {message}\n{}", stack.trim_end())
        }
        CaughtError::Value(value) => {
            let text = value.clone().try_into_string().ok().and_then(|text| Text::of(text).ok());
            let json = || Text::of(value.ctx().json_stringify(value.clone()).ok().flatten()?).ok();
            text.or_else(json).map_or_else(|| format!("{value:?}"), |text| text.0)
        }
    }
}

/// Whether a source has imports or exports as statements: a guess by how its lines begin, but those of comments.
fn has_module_syntax(source: &str) -> bool {
    let mut rest = source.trim_start();
    while !rest.is_empty() {
        let end = if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else if rest.starts_with("//") {
            rest.find('\n')
        } else {
            let end = rest.find(['\n', ';', '}']);
            if is_module_statement(&rest[..end.unwrap_or(rest.len())]) {
                return true;
            }
            end.map(|end| end + 1)
        };
        rest = end.map_or("", |end| rest[end..].trim_start());
    }
    false
}

fn is_module_statement(statement: &str) -> bool {
    // A word that only begins so is another one.
    let after = |word: &str| {
        let rest = statement.strip_prefix(word)?;
        let is_word = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '$');
        is_word.then(|| rest.trim_start())
    };
    let is_import =
        after("import").is_some_and(|rest| rest.starts_with(['"', '\'', '{', '*']) || rest.contains(" from"));
    let exported = ["{", "*", "default", "const ", "let ", "var ", "function", "class ", "async "];
    let is_export = after("export").is_some_and(|rest| exported.iter().any(|word| rest.starts_with(word)));
    is_import || is_export
}

fn install<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> rquickjs::Result<()> {
    let host = Object::new(ctx.clone())?;
    let printing = shared.clone();
    let print = move |Text(text): Text, is_error: bool| {
        if is_error || !printing.logs_to_stdout.get() {
            output::tell(&text);
        } else {
            output::print(&format!("{text}\n"));
        }
    };
    host.set("print", Function::new(ctx.clone(), print)?)?;
    let clock = shared.clock.clone();
    host.set("now", Function::new(ctx.clone(), move || clock.now())?)?;
    install_timers(ctx, shared, &host)?;
    host.set(
        "encode",
        // A copy in the engine's memory, which has a bound.
        Function::new(ctx.clone(), |ctx: Ctx<'js>, Text(text): Text| TypedArray::<u8>::new_copy(ctx, text))?,
    )?;
    host.set(
        "decode",
        Function::new(ctx.clone(), |array: TypedArray<'js, u8>| {
            words::bytes(&array).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        })?,
    )?;
    install_fetch(ctx, shared, &host)?;
    let mut options = rquickjs::context::EvalOptions::default();
    options.filename = Some("sluice:prelude".to_owned());
    let prelude: Function<'js> = ctx.eval_with_options(include_str!("prelude.js"), options)?;
    prelude.call::<_, ()>((host,))?;
    install_surface(ctx, shared)
}

fn install_timers<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>, host: &Object<'js>) -> rquickjs::Result<()> {
    let setting = shared.clone();
    let set = move |ctx: Ctx<'js>, run: Function<'js>, delay: f64, repeats: bool| -> rquickjs::Result<u32> {
        let mut timers = setting.timers.borrow_mut();
        if timers.due.len() >= WAITING_MAX {
            return Err(Exception::throw_range(&ctx, &format!("more than {WAITING_MAX} timers")));
        }
        let id = setting.ids.get().wrapping_add(1);
        setting.ids.set(id);
        let delay = if delay.is_finite() { delay.clamp(0.0, 1e9) } else { 0.0 };
        let timer = Timer { repeat: repeats.then_some(delay.max(1.0)), run: Persistent::save(&ctx, run) };
        timers.insert(id, setting.clock.now() + delay, timer);
        Ok(id)
    };
    host.set("timer", Function::new(ctx.clone(), set)?)?;
    let clearing = shared.clone();
    host.set(
        "clear",
        Function::new(ctx.clone(), move |id: f64| {
            // What is no number of a timer clears none.
            if id.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&id) {
                clearing.timers.borrow_mut().remove(id as u32);
            }
        })?,
    )
}

fn install_fetch<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>, host: &Object<'js>) -> rquickjs::Result<()> {
    let shared = shared.clone();
    let fetch = move |ctx: Ctx<'js>,
                      Text(address): Text,
                      Text(method): Text,
                      headers: Vec<Text>,
                      Text(body): Text,
                      run: Function<'js>|
          -> rquickjs::Result<()> {
        if shared.fetches.borrow().len() >= WAITING_MAX {
            return Err(Exception::throw_range(&ctx, &format!("more than {WAITING_MAX} requests")));
        }
        let id = shared.ids.get().wrapping_add(1);
        shared.ids.set(id);
        shared.fetches.borrow_mut().insert(id, Persistent::save(&ctx, run));
        let (pairs, _) = headers.as_chunks::<2>();
        let headers = pairs.iter().map(|[name, value]| (name.0.clone(), value.0.clone())).collect();
        shared.waiting.borrow_mut().push_back((id, Asked { address, method, headers, body }));
        shared.start_fetches();
        Ok(())
    };
    host.set("fetch", Function::new(ctx.clone(), fetch)?)
}

/// Strings of a batch.
fn collected<'js>(ctx: &Ctx<'js>, strings: &Array<'js>) -> rquickjs::Result<Vec<Rc<str>>> {
    // As a number: an array of the app may say that it has more elements than an integer counts.
    let length: f64 = strings.as_object().get("length")?;
    if !(0.0..=STRINGS_MAX as f64).contains(&length) {
        return Err(Exception::throw_range(ctx, &format!("a batch of more than {STRINGS_MAX} strings")));
    }
    let mut bytes = 0;
    let mut texts = Vec::new();
    for index in 0..length as usize {
        let text: rquickjs::String<'js> = strings.get(index)?;
        let text: Rc<str> = Text::of(text)?.0.into();
        bytes += text.len();
        if bytes > BATCH_BYTES_MAX {
            return Err(Exception::throw_range(
                ctx,
                &format!("a batch of more than {BATCH_BYTES_MAX} bytes of strings"),
            ));
        }
        texts.push(text);
    }
    Ok(texts)
}

fn install_surface<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> rquickjs::Result<()> {
    let surface = Object::new(ctx.clone())?;
    surface.set("version", crate::stream::codes::VERSION)?;
    for (name, is_width) in [("width", true), ("height", false)] {
        let sized = shared.clone();
        let get = move || {
            let (width, height) = sized.surface.borrow().size();
            if is_width { width } else { height }
        };
        let descriptor = Object::new(ctx.clone())?;
        descriptor.set("get", Function::new(ctx.clone(), get)?)?;
        descriptor.set("enumerable", true)?;
        let object: Object<'js> = ctx.globals().get("Object")?;
        let define: Function<'js> = object.get("defineProperty")?;
        define.call::<_, Value<'js>>((surface.clone(), name, descriptor))?;
    }
    let clock = shared.clock.clone();
    surface.set("now", Function::new(ctx.clone(), move || clock.now())?)?;
    surface.set("heapBytes", Function::new(ctx.clone(), |ctx: Ctx<'_>| words::heap(&ctx).0)?)?;
    let committing = shared.clone();
    let commit = move |ctx: Ctx<'js>,
                       words: TypedArray<'js, i32>,
                       length: f64,
                       strings: Array<'js>,
                       cause: Opt<i32>|
          -> rquickjs::Result<()> {
        // Before the batch is borrowed: getters of the array may commit too.
        let strings = collected(&ctx, &strings)?;
        let mut batch = committing.batch.borrow_mut();
        batch.clear();
        if words::copy(&words, length as usize, &mut batch.words).is_none() {
            return Err(Exception::throw_range(&ctx, "a batch of more words than its array has"));
        }
        batch.strings = strings;
        batch.cause = cause.0.unwrap_or(0);
        let result = committing.surface.borrow_mut().commit(&batch);
        result.map_err(|problem| Exception::throw_message(&ctx, &format!("the surface refuses a batch: {problem}")))
    };
    surface.set("commit", Function::new(ctx.clone(), commit)?)?;
    let listening = shared.clone();
    surface.set(
        "listen",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, listener: Function<'js>| {
            *listening.listener.borrow_mut() = Some(Persistent::save(&ctx, listener));
        })?,
    )?;
    let idling = shared.clone();
    surface.set(
        "requestIdle",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, run: Function<'js>| -> rquickjs::Result<()> {
            let mut idle = idling.idle.borrow_mut();
            if idle.len() >= WAITING_MAX {
                return Err(Exception::throw_range(&ctx, &format!("more than {WAITING_MAX} pieces of idle work")));
            }
            idle.push_back(Persistent::save(&ctx, run));
            Ok(())
        })?,
    )?;
    ctx.globals().set("sluiceSurface", surface)
}
