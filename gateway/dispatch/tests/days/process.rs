//! A worker's process: the preload's gate in front of an app that does what the plan says. It knows what comes on its connections and
//! stands in its pipe, and nothing of the gateway.

use std::collections::{BTreeSet, VecDeque};

use sluice_scheduler::{RequestId, WorkerId};

use crate::day::{Day, Happening, Out};
use crate::plan::Way;

/// A request that has come in, as the preload sees it.
#[derive(Clone, Copy, Debug)]
pub struct Letter {
    pub request: RequestId,
    pub conn: u64,
    /// Number of its handing over, if it was handed ahead.
    pub handed: Option<u64>,
}

/// A request in the app's hands.
#[derive(Clone, Copy, Debug)]
struct Inside {
    letter: Letter,
    way: Way,
    /// The last announced byte is out.
    is_out: bool,
}

#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // Facts of which none excludes another.
pub struct Process {
    pub is_alive: bool,
    pub is_listening: bool,
    is_stopping: bool,
    is_stuck: bool,
    inside: Option<Inside>,
    waiting: VecDeque<Letter>,
    /// Numbers that were read out of the pipe before their requests came in.
    taken: BTreeSet<u64>,
    /// Numbers that gateway and worker share.
    pub pipe: VecDeque<u64>,
}

/// Stage of a request in the app.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// The render is over.
    Rendered,
    /// The body's middle.
    Middle,
    /// The loop has turned once more.
    Left,
    /// The app ends what it has answered long before.
    EndsLate,
    /// A newcomer that found a response unended has waited for it.
    StillUnended,
}

const TURN_US: u64 = 50;
const LATE_END_US: u64 = 5_000;

impl Process {
    /// The request that the app computes: its last announced byte is not out.
    pub fn computes(&self, request: RequestId) -> bool {
        self.is_alive && self.inside.is_some_and(|inside| inside.letter.request == request && !inside.is_out)
    }

    fn take(&mut self, number: u64) -> bool {
        if self.taken.remove(&number) {
            return true;
        }
        while let Some(next) = self.pipe.pop_front() {
            if next == number {
                return true;
            }
            self.taken.insert(next);
        }
        false
    }
}

impl Day {
    pub fn boots(&mut self, worker: WorkerId) {
        let process = self.process(worker);
        (process.is_alive, process.is_listening) = (true, true);
    }

    /// A request's bytes are read.
    pub fn delivered(&mut self, worker: WorkerId, letter: Letter) {
        let process = self.process(worker);
        if !process.is_alive || process.is_stuck {
            // A loop reads nothing; what was written lies in the kernel.
            return;
        }
        if let Some(conn) = self.conns.get_mut(&letter.conn) {
            conn.unread = false;
        }
        let process = self.process(worker);
        match process.inside {
            None if process.waiting.is_empty() => self.begins(worker, letter),
            inside => {
                process.waiting.push_back(letter);
                if inside.is_some_and(|inside| inside.is_out) {
                    self.after(LATE_END_US, Happening::App(worker, letter.request, Stage::StillUnended));
                }
            }
        }
    }

    fn begins(&mut self, worker: WorkerId, letter: Letter) {
        let process = self.process(worker);
        if letter.handed.is_some_and(|number| !process.take(number)) {
            // The gateway has taken it back: the app never hears of it.
            self.closes(letter.conn);
            return self.enters_next(worker);
        }
        let way = self.note_begun(worker, letter.request);
        let process = self.process(worker);
        assert!(process.inside.is_none(), "the preload's gate lets one in");
        process.inside = Some(Inside { letter, way, is_out: false });
        let cost_us = self.plan_of(letter.request).cost_us;
        if way == Way::ReportsEarly {
            self.reports(worker, letter.request, true);
        }
        self.after(cost_us, Happening::App(worker, letter.request, Stage::Rendered));
    }

    fn enters_next(&mut self, worker: WorkerId) {
        if let Some(letter) = self.process(worker).waiting.pop_front() {
            self.begins(worker, letter);
        } else if self.process(worker).is_stopping {
            self.dies(worker);
        }
    }

    pub fn app(&mut self, worker: WorkerId, request: RequestId, stage: Stage) {
        let process = self.process(worker);
        if !process.is_alive || process.is_stuck {
            return;
        }
        if matches!(stage, Stage::StillUnended) {
            return self.is_still_unended(worker, request);
        }
        let Some(inside) = process.inside.filter(|inside| inside.letter.request == request) else { return };
        match stage {
            Stage::Rendered => self.writes(worker, inside),
            Stage::Middle => self.ends(worker, inside),
            Stage::EndsLate => self.after(TURN_US, Happening::App(worker, request, Stage::Left)),
            Stage::Left => self.leaves(worker, inside),
            Stage::StillUnended => {}
        }
    }

    fn writes(&mut self, worker: WorkerId, inside: Inside) {
        let Letter { request, conn, .. } = inside.letter;
        match inside.way {
            Way::DiesBefore => return self.dies(worker),
            Way::Loops => {
                self.process(worker).is_stuck = true;
                return self.after(3_000_000, Happening::SeenStuck(worker));
            }
            Way::IsSilent => return,
            Way::WritesNoHttp => self.sends(conn, Out::NoHttp(request)),
            Way::Streams => {
                self.sends(conn, Out::StreamHead(request));
                self.after(20_000, Happening::StreamEnds(worker, conn, request));
                return self.after(TURN_US, Happening::App(worker, request, Stage::Left));
            }
            way => self.sends(conn, Out::Head { of: request, is_until_close: way == Way::AnswersUntilClose }),
        }
        self.after(TURN_US, Happening::App(worker, request, Stage::Middle));
    }

    fn ends(&mut self, worker: WorkerId, inside: Inside) {
        let Letter { request, conn, .. } = inside.letter;
        match inside.way {
            Way::DiesWithin => {
                self.sends(conn, Out::Piece(request));
                return self.dies(worker);
            }
            Way::Truncates | Way::AnswersUntilClose => {
                self.sends(conn, Out::Piece(request));
                self.closes(conn);
            }
            Way::EndsShort | Way::WritesNoHttp => {}
            _ => self.sends(conn, Out::Whole(request)),
        }
        match inside.way {
            Way::DiesAfter => self.dies(worker),
            Way::EndsLate | Way::NeverReports => {
                if let Some(inside) = &mut self.process(worker).inside {
                    inside.is_out = true;
                }
                // A newcomer may wait already.
                if let Some(letter) = self.process(worker).waiting.front().copied() {
                    self.after(LATE_END_US, Happening::App(worker, letter.request, Stage::StillUnended));
                }
                if inside.way == Way::EndsLate {
                    self.after(30_000, Happening::App(worker, request, Stage::EndsLate));
                }
            }
            _ => self.after(TURN_US, Happening::App(worker, request, Stage::Left)),
        }
        if inside.way == Way::WritesLate {
            self.after(2_000, Happening::WritesLate(conn, request));
        }
    }

    fn leaves(&mut self, worker: WorkerId, inside: Inside) {
        let request = inside.letter.request;
        self.process(worker).inside = None;
        if inside.way == Way::ReportsOthers {
            let other = self.any_request();
            self.reported_by_others.insert(other);
            self.reports(worker, other, false);
            self.reports(worker, request, false);
        }
        if inside.way != Way::ReportsEarly {
            self.reports(worker, request, false);
        }
        self.enters_next(worker);
    }

    /// A newcomer has waited for a response that the app does not end: it goes back, unless the gateway has taken it back already.
    fn is_still_unended(&mut self, worker: WorkerId, newcomer: RequestId) {
        let process = self.process(worker);
        let Some(inside) = process.inside.filter(|inside| inside.is_out) else { return };
        let Some(at) = process.waiting.iter().position(|letter| letter.request == newcomer) else { return };
        let Some(letter) = process.waiting.remove(at) else { return };
        if letter.handed.is_some_and(|number| !process.take(number)) {
            return self.closes(letter.conn);
        }
        self.reached.insert("a request goes back behind one that is not ended");
        let delay_us = self.rng.between(100, 2_000);
        self.after(delay_us, Happening::Busy(worker, newcomer, inside.letter.request));
    }

    /// The gateway has closed a connection: a request that waits behind it never reaches the app.
    pub fn hears_of_close(&mut self, worker: WorkerId, conn: u64) {
        let process = self.process(worker);
        if !process.is_alive || process.is_stuck {
            return;
        }
        if let Some(at) = process.waiting.iter().position(|letter| letter.conn == conn)
            && let Some(letter) = process.waiting.remove(at)
        {
            let is_its = letter.handed.is_none_or(|number| process.take(number));
            if is_its {
                self.reports(worker, letter.request, true);
            }
        }
    }

    pub fn stops(&mut self, worker: WorkerId) {
        let process = self.process(worker);
        process.is_stopping = true;
        if process.is_alive && process.inside.is_none() && process.waiting.is_empty() {
            self.dies(worker);
        }
    }

    /// The process is gone at once; the gateway sees its connections close, and hears of its exit later.
    pub fn dies(&mut self, worker: WorkerId) {
        let process = self.process(worker);
        if !process.is_alive {
            return;
        }
        process.is_alive = false;
        process.inside = None;
        process.waiting.clear();
        let own: Vec<u64> =
            self.conns.iter().filter(|(_, conn)| conn.worker == worker).map(|(number, _)| *number).collect();
        for conn in own {
            self.closes(conn);
        }
        let known_us = self.rng.pick(&[200, 5_000, 100_000, 900_000]);
        self.after(known_us, Happening::ExitKnown(worker));
    }
}
