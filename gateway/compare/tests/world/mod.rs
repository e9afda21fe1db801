//! A site with two versions: classes with heavy tails and classes that hardly vary, visitors who stay with one version, noise that lasts,
//! drift, outages.

use sluice_compare::{Arm, Sample};

/// Difference between the versions.
#[derive(Clone, Debug)]
pub struct Truth {
    /// CPU time of the version on trial, as a multiple.
    pub cpu: f64,
    /// Share of its requests that fail besides those that fail in both.
    pub fails: f64,
    /// Standard deviation of the difference between two processes of one version.
    pub processes: f64,
    /// The same of each class, on top.
    pub processes_of_class: f64,
    /// Class of whose requests so many fail besides, by its place.
    pub fails_in: Option<(usize, f64)>,
    /// Whether visitors stay with one version, by their numbers; else chance decides for each request.
    pub stays: bool,
    /// Whether visitors have numbers.
    pub numbers: bool,
}

impl Default for Truth {
    fn default() -> Self {
        Truth {
            cpu: 1.0,
            fails: 0.0,
            processes: 0.006,
            processes_of_class: 0.01,
            fails_in: None,
            stays: true,
            numbers: true,
        }
    }
}

pub fn releases() -> u64 {
    std::env::var("SLUICE_RELEASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

pub fn seed() -> u64 {
    std::env::var("SLUICE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_250_101)
}

/// Numbers by chance (`SplitMix64`).
struct Chance(u64);

impl Chance {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    #[allow(clippy::cast_precision_loss)]
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (self.unit().max(1e-300), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.bits() % count as u64).unwrap_or(0)
    }
}

/// A class: its name, its share, and its CPU time: mean and standard deviation of the logarithm of microseconds.
struct Class {
    name: String,
    share: f64,
    log_us: f64,
    spread: f64,
    /// Difference of the class between the two processes.
    process: f64,
}

struct Visitor {
    id: u64,
    arm: Arm,
    speed: f64,
    left: u32,
    /// Whether everything that this visitor asks for fails.
    is_hostile: bool,
}

/// The site.
pub struct World {
    truth: Truth,
    share: f64,
    chance: Chance,
    classes: Vec<Class>,
    visitors: Vec<Visitor>,
    next_visitor: u64,
    /// Noise of the machine, and of each version for a while.
    machine: f64,
    arms: [f64; 2],
    process: f64,
    served: [u64; 2],
    seen: Vec<u64>,
    at: u64,
    /// Time up to which a service behind the app is down.
    outage: u64,
    drift: f64,
}

impl World {
    pub fn new(truth: Truth, share: f64, seed: u64) -> Self {
        let mut chance = Chance(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let mut classes = Vec::new();
        for at in 0..14_u32 {
            classes.push(Class {
                name: format!("GET /class{at}"),
                share: 1.0 / f64::from(at + 1),
                log_us: 7.0 + 5.0 * chance.unit(),
                // Every fifth class hardly varies.
                spread: if at % 5 == 3 { 0.015 } else { 0.2 + 0.35 * chance.unit() },
                process: chance.normal() * truth.processes_of_class,
            });
        }
        let all: f64 = classes.iter().map(|class| class.share).sum();
        for class in &mut classes {
            class.share /= all;
        }
        let process = chance.normal() * truth.processes;
        let drift = (chance.unit() - 0.5) * 0.4;
        World {
            truth,
            share,
            classes,
            visitors: Vec::new(),
            next_visitor: 0,
            machine: 0.0,
            arms: [0.0; 2],
            process,
            served: [0, 5_000],
            seen: vec![0; 14],
            at: 0,
            outage: 0,
            drift,
            chance,
        }
        .started()
    }

    /// The version on trial has just been started; the present one is warm.
    fn started(mut self) -> Self {
        self.served = [5_000, 0];
        for _ in 0..60 {
            let visitor = self.visitor();
            self.visitors.push(visitor);
        }
        self
    }

    fn visitor(&mut self) -> Visitor {
        self.next_visitor += 1;
        let is_tried = self.chance.unit() < self.share;
        // Few visitors ask for most: a Pareto distribution. One of 300 is an office behind one address, or a program.
        let left = if self.chance.unit() < 1.0 / 300.0 {
            2_000.0 * self.chance.unit()
        } else {
            3.0 / self.chance.unit().max(0.004).powf(0.8)
        };
        let is_hostile = self.chance.unit() < 0.0004;
        Visitor {
            id: self.next_visitor,
            arm: if is_tried { Arm::Trial } else { Arm::Present },
            speed: self.chance.normal() * 0.1,
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            left: left as u32 + 1,
            is_hostile,
        }
    }

    fn class(&mut self) -> usize {
        let mut left = self.chance.unit();
        for (at, class) in self.classes.iter().enumerate() {
            left -= class.share;
            if left < 0.0 {
                return at;
            }
        }
        0
    }

    /// One request.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn request(&mut self, take: impl FnOnce(&Sample<'_>)) {
        self.at += 1;
        self.machine = 0.995 * self.machine + 0.008 * self.chance.normal();
        for arm in &mut self.arms {
            *arm = 0.99 * *arm + 0.0015 * self.chance.normal();
        }
        if self.chance.unit() < 1.0 / 15_000.0 {
            self.outage = self.at + 150;
        }
        let which = self.chance.below(self.visitors.len());
        let class = self.class();
        let (visitor, mut arm, speed, is_hostile) = {
            let visitor = &mut self.visitors[which];
            visitor.left -= 1;
            (visitor.id, visitor.arm, visitor.speed, visitor.is_hostile)
        };
        if self.visitors[which].left == 0 {
            self.visitors[which] = self.visitor();
        }
        if !self.truth.stays {
            arm = if self.chance.unit() < self.share { Arm::Trial } else { Arm::Present };
        }
        let Class { log_us, spread, process, .. } = self.classes[class];
        let mut log = log_us + spread * self.chance.normal() + speed + self.machine + self.arms[arm as usize];
        log += self.drift * (self.at as f64 / 20_000.0);
        let mut fails = 0.0005 + if self.at < self.outage && class < 4 { 0.3 } else { 0.0 };
        if arm == Arm::Trial {
            log += self.truth.cpu.ln() + self.process + process;
            fails += self.truth.fails;
            fails += self.truth.fails_in.filter(|(at, _)| *at == class).map_or(0.0, |(_, share)| share);
            // Code that was not compiled yet.
            let (of_worker, of_class) = (self.served[arm as usize] as f64, self.seen[class] as f64);
            log += (1.5 * (-of_worker / 25.0).exp() + (-of_class / 3.0).exp()).ln_1p();
            self.seen[class] += 1;
        }
        // A garbage collection, or a slow disk.
        if self.chance.unit() < 0.03 {
            log += (1.0 + 7.0 * self.chance.unit()).ln();
        }
        let failed = is_hostile || self.chance.unit() < fails;
        let nth = self.served[arm as usize];
        let nth_of_class = if arm == Arm::Trial { self.seen[class] - 1 } else { nth };
        self.served[arm as usize] += 1;
        let waits = 800.0 * (0.5 + self.chance.unit() / self.chance.unit().max(0.05));
        let sample = Sample {
            arm,
            class: &self.classes[class].name,
            visitor: Some(visitor).filter(|_| self.truth.numbers),
            stays: self.truth.stays,
            nth,
            nth_of_class,
            cpu_us: Some(log.exp() as u64),
            service_us: Some((log.exp() * 1.2 + waits) as u64),
            failed,
        };
        take(&sample);
    }
}
