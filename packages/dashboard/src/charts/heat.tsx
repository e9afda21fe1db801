// Uninterrupted runs of the workers' main threads: time across, length up, the darker the more.
import { useEffect, useRef } from 'preact/hooks';
import { Help } from '../parts/help.js';
import { count, time } from '../format.js';
import type { Point, RunsSnapshot } from '../snapshot.js';

const ROW = 11;
const LEFT = 58;
/** Time that one column covers. */
const COLUMN_MS = 10_000;

export interface Column {
  atMs: number;
  counts: number[];
}

/** Points gathered into columns of at least ten seconds. */
export function columnsOf(points: readonly Point[]): Column[] {
  const columns: Column[] = [];
  for (const { at_ms: atMs, runs } of points) {
    const place = Math.ceil(atMs / COLUMN_MS) * COLUMN_MS;
    let column = columns.at(-1);
    if (column?.atMs !== place) columns.push((column = { atMs: place, counts: [] }));
    runs.forEach((more, at) => {
      column.counts[at] = (column.counts[at] ?? 0) + more;
    });
  }
  return columns;
}

/** Runs of at least so many microseconds. */
export function longer(counts: readonly number[], upperUs: readonly number[], fromUs: number): number {
  return counts.reduce((sum, more, at) => sum + ((upperUs[at - 1] ?? 0) >= fromUs ? more : 0), 0);
}

interface Props {
  points: readonly Point[];
  runs: RunsSnapshot;
  theme: string;
}

export function HeatMap({ points, runs, theme }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const columns = columnsOf(points);
  const upper = runs.upper_us;
  useEffect(() => {
    if (canvas.current !== null && !document.hidden) draw(canvas.current, columns, upper);
  }, [points, theme]);
  const all = columns.reduce<number[]>((sum, { counts }) => {
    counts.forEach((more, at) => {
      sum[at] = (sum[at] ?? 0) + more;
    });
    return sum;
  }, []);
  const facts = [
    ['over 1 s', 1e6],
    ['over 100 ms', 1e5],
    ['over 10 ms', 1e4],
    ['over 1 ms', 1e3],
  ] as const;
  return (
    <section class="card" aria-labelledby="runs">
      <h2 id="runs">
        Synchronous operations{' '}
        <Help
          of="synchronous operations"
          text="Uninterrupted runs of the workers' main threads; during a run, that worker does nothing else. The horizontal axis is time, the vertical axis the length of runs; darker means more runs. A column covers ten seconds."
        />
      </h2>
      <ul class="legend">
        {facts.map(([label, fromUs]) => (
          <li key={label}>
            {label} <b>{count(longer(all, upper, fromUs))}</b>
          </li>
        ))}
        <li>
          garbage collection <b>{time(runs.collected_us / 1000)}</b> in {count(runs.collections)}
        </li>
      </ul>
      {upper.length === 0 ? (
        <p class="empty">No worker has reported runs yet.</p>
      ) : (
        <canvas
          ref={canvas}
          class="heat"
          role="img"
          aria-label="Heat map of synchronous operations; the counts are above."
        />
      )}
      {runs.longest.length > 0 && <Longest runs={runs} />}
    </section>
  );
}

function Longest({ runs }: { runs: RunsSnapshot }) {
  return (
    <details>
      <summary>The longest</summary>
      <ul class="plain">
        {runs.longest.slice(0, 12).map((run) => (
          <li key={`${run.at_unix_ms}-${run.worker}-${run.ms}`}>
            <b>{time(run.ms)}</b> in worker {run.worker}
            {run.class !== null && (
              <>
                , <code>{run.class}</code>
              </>
            )}
            {run.cpu_ms !== null && `, ${time(run.cpu_ms)} of it on a CPU`}
            {run.spent === 'starved' && (
              <>
                , <b class="warn">starved</b> (other processes had the CPU)
              </>
            )}
            {run.spent === 'waiting' && ', waiting in a synchronous call'}
            {run.collected_ms > 0 && `, ${time(run.collected_ms)} of it in garbage collection`}
          </li>
        ))}
      </ul>
    </details>
  );
}

function draw(canvas: HTMLCanvasElement, columns: Column[], upper: readonly number[]): void {
  const [width, rows] = [canvas.clientWidth, upper.length + 1];
  const scale = devicePixelRatio;
  const height = rows * ROW + 18;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  pen.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const [ink, dim] = [style.getPropertyValue('--heat'), style.getPropertyValue('--dim')];
  pen.font = '11px system-ui';
  pen.fillStyle = dim;
  pen.textAlign = 'right';
  upper.forEach((us, at) => {
    if (Math.log10(us) % 1 === 0) pen.fillText(time(us / 1000), LEFT - 6, (rows - at - 1) * ROW + 4);
  });
  const [first, last] = [columns[0]?.atMs ?? 0, columns.at(-1)?.atMs ?? 0];
  const span = Math.max(last - first, COLUMN_MS * 29) + COLUMN_MS;
  const step = ((width - LEFT) * COLUMN_MS) / span;
  const gaps = columns.slice(1).map(({ atMs }, at) => atMs - (columns[at]?.atMs ?? 0));
  const wide = Math.max(1, step * (Math.min(...gaps, span) / COLUMN_MS) - 1);
  const top = Math.log1p(Math.max(1, ...columns.flatMap(({ counts }) => counts)));
  pen.fillStyle = ink;
  for (const { atMs, counts } of columns) {
    const x = width - ((last - atMs) / COLUMN_MS + 1) * step;
    counts.forEach((many, at) => {
      if (many === 0) return;
      pen.globalAlpha = 0.12 + 0.88 * (Math.log1p(many) / top);
      pen.fillRect(x, (rows - at - 1) * ROW, wide, ROW - 1);
    });
  }
  pen.globalAlpha = 1;
  pen.fillStyle = dim;
  pen.textAlign = 'left';
  if (columns.length > 0) {
    pen.fillText(
      new Date(last - span + COLUMN_MS).toLocaleTimeString([], { hour12: false }),
      LEFT,
      height - 3,
    );
    pen.textAlign = 'right';
    pen.fillText(new Date(last).toLocaleTimeString([], { hour12: false }), width, height - 3);
  }
}
