/**
 * A profile of one request, which the gateway asks for in its label, because others of its class took unusually long. The request has
 * the worker to itself. The profile begins immediately before the app gets it, ends when it has left, and is kept if it took long.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Control } from '../control/control.js';
import { writeWhole } from './inspector-session.js';
import { clock_us } from '../timers.js';

/** Twice as fine as that of `sluice profile`: most requests are short. */
const SAMPLING_INTERVAL_US = 250;

/** Wish of the gateway. */
export interface Wanted {
  /** Names the file; requests of different gateways may have the same number. */
  readonly number: number;
  /** The profile is kept if the request takes so much CPU time. */
  readonly from_us: number;
}

/** Ends the profile of a request. */
export type EndTail = () => void;

export class Tails {
  readonly #control: Control;
  readonly #dir: string;

  /** Profiles go beside the directory with the worker's socket. */
  constructor(control: Control, socketPath: string) {
    this.#control = control;
    this.#dir = join(dirname(dirname(socketPath)), 'profiles', 'tail');
  }

  /** Begins the profile, and calls back however that goes. What takes it is loaded at the first. */
  begin(id: number, { number, from_us }: Wanted, then: (end: EndTail) => void): void {
    const before_us = clock_us();
    void import('./recording.js')
      .then(({ Recording }) => new Recording(SAMPLING_INTERVAL_US))
      .then(
        (recording) => {
          const began_us = clock_us();
          return () => {
            const ended_us = clock_us();
            let [file, file_bytes, used_us] = ['', 0, 0];
            try {
              const stopped = recording.stop();
              used_us = Math.round(stopped.used_us);
              if (used_us >= from_us)
                [file, file_bytes] = this.#write(number, JSON.stringify(stopped.profile));
            } catch {
              // There is none of this one; the gateway hears so.
            }
            const overhead_us = began_us - before_us + (clock_us() - ended_us);
            const service_us = ended_us - began_us;
            this.#control.send({ type: 'tailed', id, file, file_bytes, used_us, service_us, overhead_us });
          };
        },
        () => () =>
          this.#control.send({
            type: 'tailed',
            id,
            file: '',
            file_bytes: 0,
            used_us: 0,
            service_us: 0,
            overhead_us: 0,
          }),
      )
      .then((end: EndTail) => then(end));
  }

  #write(number: number, text: string): [file: string, bytes: number] {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const file = join(this.#dir, `${number}.cpuprofile`);
    writeWhole(file, text);
    return [file, Buffer.byteLength(text)];
  }
}

/** The profile of the request that is wanted; undefined where none is. */
export function tailOf(label: string): Wanted | undefined {
  const at = label.indexOf(';profile=');
  if (at < 0) return undefined;
  const found = /^;profile=(\d+),(\d+)/.exec(label.slice(at));
  return found === null ? undefined : { from_us: Number(found[1]), number: Number(found[2]) };
}
