/**
 * Share of the server in rendering: for which components and which share of visitors. A pure function of shares,
 * visitor and component. It must not know pages or where shares come from.
 */
import { positionOf } from '../variants/position.js';
import type { Device, Visitor } from './visitor.js';

/** Shares from 0 to 1 by `*`, `Component`, `Component@device` or `*@device`. */
export type Shares = Readonly<Record<string, number>>;

/** The same for all components, so that a visitor gets a page of one kind. */
const SALT = 'sluice.dial';
/** Boxes of a page are told in steps of so many per cent: a label for each number would be too many. */
const STEP_PERCENT = 5;

export class Dial {
  readonly #shares: Shares;
  readonly #device: Device;
  readonly #visitor: Visitor;
  readonly #decided = new Map<string, boolean>();
  #position: number | undefined;
  #server = 0;
  #counted = 0;
  #dependsOnVisitor = false;
  #dependsOnDevice = false;

  constructor(shares: Shares, visitor: Visitor) {
    this.#shares = shares;
    this.#device = visitor.device;
    this.#visitor = visitor;
  }

  /** Whether the server renders this component for this visitor. */
  server(component: string): boolean {
    let isServer = this.#decided.get(component);
    if (isServer === undefined) {
      isServer = this.#decide(component);
      this.#decided.set(component, isServer);
    }
    return isServer;
  }

  /** Counts boxes of the page for `setting`. */
  count(component: string, boxes = 1): void {
    this.#counted += boxes;
    if (this.server(component)) this.#server += boxes;
  }

  /** Another visitor with the same device may get another page. */
  get dependsOnVisitor(): boolean {
    return this.#dependsOnVisitor;
  }

  /** Another device may get another page. */
  get dependsOnDevice(): boolean {
    return this.#dependsOnDevice;
  }

  /** `s0` to `s100`: how many of the counted boxes the server renders, in steps of 5 %. */
  get setting(): string {
    if (this.#counted === 0) return 's100';
    const percent = (this.#server / this.#counted) * 100;
    // Only all and none are called so.
    const rounded = Math.round(percent / STEP_PERCENT) * STEP_PERCENT;
    const within = Math.min(100 - STEP_PERCENT, Math.max(STEP_PERCENT, rounded));
    return `s${percent === 0 || percent === 100 ? percent : within}`;
  }

  #decide(component: string): boolean {
    const share = shareOf(this.#shares, component, this.#device);
    this.#dependsOnDevice ||= DEVICES.some((device) => shareOf(this.#shares, component, device) !== share);
    this.#dependsOnVisitor ||= share > 0 && share < 1;
    return share >= 1 || (share > 0 && this.#place() < share);
  }

  #place(): number {
    this.#position ??= positionOf(this.#visitor.id, SALT);
    return this.#position;
  }
}

const DEVICES: readonly Device[] = ['mobile', 'desktop', 'bot'];

/** The most specific share: `Component@device`, `Component`, `*@device`, `*`; 1 where there is none. */
export function shareOf(shares: Shares, component: string, device: Device): number {
  for (const key of [`${component}@${device}`, component, `*@${device}`, '*']) {
    const share = Object.hasOwn(shares, key) ? shares[key] : undefined;
    if (share !== undefined && Number.isFinite(share)) return share;
  }
  return 1;
}
