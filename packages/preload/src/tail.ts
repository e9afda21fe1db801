/**
 * A profile of one request, which the gateway asks for in its label, because others of its class took unusually long. The request has
 * the worker to itself. The profile begins just before the app gets it, ends when it has left, and is kept where it took long.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Control } from './control.js';
import { writeWhole } from './inspector-session.js';
import { clock_us } from './timers.js';

/** Twice as fine as that of `sluice profile`: most requests are short. */
const SAMPLING_INTERVAL_US = 250;

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
  begin(id: number, from_us: number, then: (end: EndTail) => void): void {
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
              if (used_us >= from_us) [file, file_bytes] = this.#write(id, JSON.stringify(stopped.profile));
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

  #write(id: number, text: string): [file: string, bytes: number] {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const file = join(this.#dir, `${id}.cpuprofile`);
    writeWhole(file, text);
    return [file, Buffer.byteLength(text)];
  }
}

/** From how many microseconds of CPU on a profile of the request is kept; undefined where none is wanted. */
export function tailOf(label: string): number | undefined {
  const at = label.indexOf(';profile=');
  if (at < 0) return undefined;
  const from_us = Number.parseInt(label.slice(at + ';profile='.length), 10);
  return Number.isFinite(from_us) ? from_us : undefined;
}
