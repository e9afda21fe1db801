/** Moment at which components have stopped to ask. It must not know what they ask for. */

/**
 * Turns of the event loop without a further read after which a request is sent. A queue of renders lets others pass for up to two, and React
 * renders the siblings of a component that waits in a later one.
 */
const QUIET_TURNS = 3;
/** Turns that a request waits for at most. */
const TURNS_MAX = 1_000;

/** Counter of reads, which tells when there were none for a while. */
export class Quiet {
  readonly #turn: (look: () => void) => unknown;
  #reads = 0;

  /** `turn` calls what it is given in a later turn of the event loop. */
  constructor(turn: (look: () => void) => unknown) {
    this.#turn = turn;
  }

  note(): void {
    this.#reads += 1;
  }

  /** Calls `send` once there were no reads for some turns. */
  await(send: () => void): void {
    let reads = this.#reads;
    let turns = 0;
    let quiet = 0;
    const look = (): void => {
      turns += 1;
      quiet = this.#reads === reads ? quiet + 1 : 0;
      reads = this.#reads;
      if (quiet === QUIET_TURNS || turns === TURNS_MAX) send();
      else this.#turn(look);
    };
    this.#turn(look);
  }
}
