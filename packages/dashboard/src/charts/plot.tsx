// A chart over time: uPlot in a figure, with what happened as lines across it, and its latest values as text.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock } from '../format.js';
import type { Mark } from '../snapshot.js';
import { Help } from '../parts/help.js';

export interface Line {
  label: string;
  /** Custom property with the line's colour. */
  colour: string;
  /** Whether the room below is filled. */
  fill?: boolean;
  values: readonly (number | null)[];
}

interface Props {
  title: string;
  help: string;
  at: readonly number[];
  lines: readonly Line[];
  marks: readonly Mark[];
  format: (value: number) => string;
  /** A logarithmic axis, for times that differ by orders of magnitude. */
  log?: boolean;
  /** Steps of the axis are of powers of two, as bytes are told. */
  binary?: boolean;
  theme: string;
}

const HEIGHT = 168;
const LOG_MIN = 0.05;
const DECADES = [0.1, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const TIME_STEPS_S = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200];
const BYTE_STEPS = Array.from({ length: 40 }, (_, power) => 2 ** power);
const SYNC = 'time';

export const MARK_COLOURS: Record<Mark['kind'], string> = {
  deploy: '--accent',
  crash: '--bad',
  stuck: '--bad',
  quarantine: '--warn',
  alarm: '--warn',
  worker: '--faint',
  note: '--faint',
};

/** Whether the mark is drawn across charts: a worker that comes or goes as it should is no news. */
const isDrawn = (mark: Mark): boolean => mark.kind !== 'worker' && mark.kind !== 'note';

export function Plot({ title, help, at, lines, marks, format, log = false, binary = false, theme }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const drawn = useRef<readonly Mark[]>(marks);
  drawn.current = marks;
  const names = lines.map(({ label }) => label).join();

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(
      options(lines, format, { log, binary }, drawn, element.clientWidth),
      [[]],
      element,
    );
    chart.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      chart.current = null;
    };
    // Colours are read when a chart is made.
  }, [names, log, theme]);

  useEffect(() => {
    if (document.hidden) return;
    const floor = (value: number | null) => (value === null || !log ? value : Math.max(value, LOG_MIN));
    chart.current?.setData([[...at], ...lines.map(({ values }) => values.map(floor))]);
  }, [at, lines, theme]);

  return (
    <figure class="card chart">
      <figcaption>
        <h2>
          {title} <Help of={title} text={help} />
        </h2>
        <ul class="legend">
          {lines.map(({ label, colour, values }) => {
            const last = values.findLast((value) => value !== null);
            return (
              <li key={label}>
                <i style={{ background: `var(${colour})` }} />
                {label} <b>{last === undefined || last === null ? '–' : format(last)}</b>
              </li>
            );
          })}
        </ul>
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}

function options(
  lines: readonly Line[],
  format: (value: number) => string,
  { log, binary }: { log: boolean; binary: boolean },
  marks: { current: readonly Mark[] },
  width: number,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--dim'), font: '11px system-ui', ticks: { show: false } };
  const grid = { stroke: colour('--line'), width: 1 };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: SYNC }, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: true },
      y: log
        ? { distr: 3, range: (_, min, max) => [LOG_MIN, Math.max(max ?? 1, min ?? 1, 10) * 1.5] }
        : { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 24,
        incrs: TIME_STEPS_S,
        values: (_, splits, __, ___, step) => splits.map((at) => clock(at * 1000, step < 60)),
      },
      {
        ...axis,
        grid,
        size: 58,
        space: 30,
        ...(binary ? { incrs: BYTE_STEPS } : {}),
        // A label at the upper edge would be cut.
        ...(log ? { splits: (_, __, ___, max) => DECADES.filter((decade) => decade < max * 0.8) } : {}),
        values: (_, splits) => splits.map((split) => (split === null ? '' : format(split))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, colour: name, fill }): uPlot.Series => ({
        label,
        stroke: colour(name),
        width: 1.25,
        ...(fill === true ? { fill: colour(`${name}-fill`) } : {}),
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, marks.current, colour)] },
  };
}

function drawMarks(plot: uPlot, marks: readonly Mark[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const mark of marks.filter(isDrawn)) {
    const x = Math.round(plot.valToPos(mark.at_ms / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colour(MARK_COLOURS[mark.kind]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
