/**
 * Experiments: visitors are allocated to arms, and an arm names other components in place of some. Each arm's component is
 * one of its own, so that its code and styles are loaded by the visitors of that arm alone. It must not know pages.
 */
import type { Visitor } from '../dial/visitor.js';
import { positionOf } from './position.js';

export interface Experiment {
  readonly name: string;
  /** Weights of arms; shares are weight by sum. The order matters: a visitor stays in the arm while weights stay. */
  readonly arms: Readonly<Record<string, number>>;
  /** Cookie whose value allocates. Default: the visitor's identity. */
  readonly by?: string;
  /**
   * Components by component, by arm: what is rendered in its place, as `Name` or `Name@version`. Other arms keep the
   * component.
   */
  readonly components?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Day on which it began, as `2026-11-24`. The list tells its age, so that losers are removed. */
  readonly since: string;
}

/** Arms of one visitor by experiment. */
export type Allocation = Readonly<Record<string, string>>;

export interface ListedVariant {
  readonly experiment: string;
  readonly arm: string;
  /** Share from 0 to 1, by weight. */
  readonly share: number;
  readonly since: string;
  readonly age_days: number;
  /** Components that it renders in place of others. */
  readonly components: Readonly<Record<string, string>>;
}

const DAY_MS = 86_400_000;
/** Names go into labels of metrics, as `experiment:arm` of 64 characters at most. */
const NAME = /^[A-Za-z0-9][\w.-]{0,30}$/;
const EXPERIMENTS_MAX = 100;

export class Experiments {
  readonly #experiments: readonly Experiment[];

  /** Throws where a name, a weight or a day is none. */
  constructor(experiments: readonly Experiment[] = []) {
    if (experiments.length > EXPERIMENTS_MAX)
      throw new RangeError(`more than ${EXPERIMENTS_MAX} experiments`);
    const names = new Set<string>();
    for (const experiment of experiments) {
      check(experiment);
      if (names.has(experiment.name)) throw new TypeError(`two experiments are called ${experiment.name}`);
      names.add(experiment.name);
    }
    this.#experiments = experiments;
  }

  get isEmpty(): boolean {
    return this.#experiments.length === 0;
  }

  /** The arms of one visitor. `given` are arms that an upstream or the caller chose: they win where such an arm exists. */
  allocate(visitor: Visitor, given: Allocation = {}): Variants {
    const arms: Record<string, string> = {};
    for (const experiment of this.#experiments) {
      const chosen = Object.hasOwn(given, experiment.name) ? given[experiment.name] : undefined;
      const isArm = chosen !== undefined && Object.hasOwn(experiment.arms, chosen);
      arms[experiment.name] = isArm ? chosen : armOf(experiment, visitor);
    }
    return new Variants(this.#experiments, arms);
  }

  /** Every arm with its share and age at `now_ms`, Unix milliseconds. */
  list(now_ms: number = Date.now()): readonly ListedVariant[] {
    return this.#experiments.flatMap((experiment) => {
      const sum = sumOf(experiment.arms);
      const age_days = Math.max(0, Math.floor((now_ms - Date.parse(experiment.since)) / DAY_MS));
      return Object.entries(experiment.arms).map(([arm, weight]) => ({
        experiment: experiment.name,
        arm,
        share: weight / sum,
        since: experiment.since,
        age_days,
        components: replacedBy(experiment, arm),
      }));
    });
  }
}

/** Variants of one visitor's page. Remembers which experiments the page was touched by. */
export class Variants {
  readonly #experiments: readonly Experiment[];
  readonly #touched = new Set<string>();
  readonly arms: Allocation;

  constructor(experiments: readonly Experiment[], arms: Allocation) {
    this.#experiments = experiments;
    this.arms = arms;
  }

  /** The component in place of `name`, as `Name` or `Name@version`. The first experiment that names it decides. */
  replace(name: string): string {
    for (const { name: experiment, components = {} } of this.#experiments) {
      const byArm = Object.hasOwn(components, name) ? components[name] : undefined;
      if (byArm === undefined) continue;
      this.#touched.add(experiment);
      const arm = this.arms[experiment] ?? '';
      return (Object.hasOwn(byArm, arm) ? byArm[arm] : undefined) ?? name;
    }
    return name;
  }

  /** Returns arms as data for conditions. Reading one counts the experiment as one that had a say. */
  asData(): Readonly<Record<string, string>> {
    const data: Record<string, string> = {};
    for (const { name } of this.#experiments) {
      Object.defineProperty(data, name, {
        enumerable: true,
        get: () => {
          this.#touched.add(name);
          return this.arms[name];
        },
      });
    }
    return data;
  }

  /** Experiments that had a say in this page: others must not be measured by it. */
  get touched(): readonly string[] {
    return [...this.#touched];
  }

  /** `experiment:arm` of the first that had a say; null where none had. */
  get label(): string | null {
    return this.labels[0] ?? null;
  }

  /** `experiment:arm` of each that had a say. */
  get labels(): readonly string[] {
    return this.touched.map((name) => `${name}:${this.arms[name] ?? ''}`);
  }
}

function armOf({ name, arms, by }: Experiment, visitor: Visitor): string {
  const cookie = by === undefined ? undefined : visitor.cookies[by];
  const place = positionOf(cookie ?? visitor.id, name) * sumOf(arms);
  let end = 0;
  let last = '';
  for (const [arm, weight] of Object.entries(arms)) {
    if (weight === 0) continue;
    end += weight;
    last = arm;
    if (place < end) return arm;
  }
  return last;
}

function replacedBy({ components = {} }: Experiment, arm: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(components).flatMap(([name, byArm]) => {
      const replacement = Object.hasOwn(byArm, arm) ? byArm[arm] : undefined;
      return replacement === undefined ? [] : [[name, replacement]];
    }),
  );
}

function sumOf(arms: Readonly<Record<string, number>>): number {
  return Object.values(arms).reduce((sum, weight) => sum + weight, 0);
}

function check({ name, arms, since, components = {} }: Experiment): void {
  const weights = Object.entries(arms);
  if (!NAME.test(name)) throw new TypeError(`an experiment cannot be called ${JSON.stringify(name)}`);
  for (const [arm, weight] of weights) {
    if (!NAME.test(arm)) throw new TypeError(`an arm of ${name} cannot be called ${JSON.stringify(arm)}`);
    // A key such as `0` would move to the front and change who is in which arm.
    if (/^\d+$/.test(arm))
      throw new TypeError(`an arm of ${name} is called ${arm}: use a name, not a number`);
    if (!Number.isFinite(weight) || weight < 0)
      throw new TypeError(`${name}: the weight of ${arm} is ${weight}`);
  }
  if (sumOf(arms) <= 0) throw new TypeError(`${name}: no arm has a weight`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(since) || Number.isNaN(Date.parse(since)))
    throw new TypeError(`${name}: since is ${JSON.stringify(since)}; it must be a day such as 2026-11-24`);
  for (const [component, byArm] of Object.entries(components)) {
    for (const arm of Object.keys(byArm)) {
      if (!Object.hasOwn(arms, arm))
        throw new TypeError(`${name}: ${component} names the arm ${arm}, which does not exist`);
    }
  }
}
