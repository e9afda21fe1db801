/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Times of key presses and first screens, in microseconds: of the clock, and of the processor (which other processes do not change). */

export interface Times {
  readonly p50: number;
  readonly p95: number;
  /** Processor time, mean. */
  readonly cpu: number;
}

function timesOf(runs: number, skip: number, run: (i: number) => void, after: () => void): Times {
  const times: number[] = [];
  let cpu = 0;
  for (let i = 1; i <= runs + skip; i++) {
    const used = process.cpuUsage();
    const start = performance.now();
    run(i);
    const time = performance.now() - start;
    const { user, system } = process.cpuUsage(used);
    if (i > skip) {
      times.push(time);
      cpu += user + system;
    }
    after();
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.floor((times.length - 1) * share)]! * 1_000);
  return { p50: at(0.5), p95: at(0.95), cpu: Math.round(cpu / runs) };
}

export function measure(name: string, press: (to: number) => void, mount: () => () => void): void {
  const presses = timesOf(
    1_000,
    100,
    (i) => press(i % 20),
    () => {},
  );
  let unmount: () => void;
  const mounts = timesOf(
    100,
    10,
    () => {
      unmount = mount();
    },
    () => unmount(),
  );
  console.log(JSON.stringify({ name, press: presses, mount: mounts }));
}
