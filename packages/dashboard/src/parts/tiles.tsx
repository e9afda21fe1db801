// The figures of now, each with the last minutes as a line.
import { bytes, count, time, trimmed } from '../format.js';
import type { Model } from '../feed/model.js';
import type { Point } from '../snapshot.js';
import { Help } from './help.js';

interface Tile {
  name: string;
  help: string;
  value: string;
  note: string;
  of: (point: Point) => number;
  bad?: boolean;
}

export function Tiles({ model }: { model: Model }) {
  const status = model.frame?.status;
  if (status === undefined) return null;
  const point = model.frame?.point;
  const busy = status.workers.filter(({ state }) => state === 'busy').length;
  const serving = status.workers.filter(({ state }) => state === 'busy' || state === 'ready').length;
  const tiles: Tile[] = [
    {
      name: 'Requests',
      help: 'Answers of workers per second, over the last ten seconds.',
      value: `${count(status.requests.per_second)}/s`,
      note: `${count(status.requests.answered_total)} since the start`,
      of: ({ answered }) => answered,
    },
    {
      name: 'Queue',
      help: 'Requests that wait for a worker. Below: the wait of the oldest, or the limit of the queue.',
      value: count(status.queue.length),
      note:
        status.queue.length > 0
          ? `oldest ${time(status.queue.oldest_wait_ms)}`
          : `room for ${count(status.queue.length_max)}`,
      of: ({ queue_length: length }) => length,
      bad: status.queue.length > status.queue.length_max / 2,
    },
    {
      name: 'Queue wait p95',
      help: '95th percentile of the queue wait in the last minute.',
      value: time(status.queue_wait_ms.p95),
      note: `p50 ${time(status.queue_wait_ms.p50)}, p99 ${time(status.queue_wait_ms.p99)}`,
      of: ({ queue_wait_ms: spread }) => spread?.[1] ?? 0,
    },
    {
      name: 'Service time p95',
      help: '95th percentile of the time in a worker in the last minute.',
      value: time(status.service_time_ms.p95),
      note: `p50 ${time(status.service_time_ms.p50)}, p99 ${time(status.service_time_ms.p99)}`,
      of: ({ service_time_ms: spread }) => spread?.[1] ?? 0,
    },
    {
      name: 'Workers',
      help: 'Workers that wait for a request. Below: workers with a request, and requests in all workers.',
      value: `${serving - busy} ready`,
      note: `${busy} busy, ${status.requests.in_service} in service`,
      of: ({ in_service: requests }) => requests,
      bad: serving === 0,
    },
    {
      name: 'CPU',
      help: 'CPU time of all workers in the last second, in cores. Below: CPU time of the gateway.',
      value: `${trimmed(point?.cpu ?? 0)} cores`,
      note: `gateway ${trimmed(point?.gateway_cpu ?? 0)}`,
      of: ({ cpu }) => cpu,
    },
    {
      name: 'Memory',
      help: 'Resident memory of all workers.',
      value: bytes(point?.rss_bytes),
      note: `${count(status.connections)} connections`,
      of: ({ rss_bytes: rss }) => rss,
    },
    {
      name: 'Failures',
      help: 'Answers with a status of 500 or above per second. Below: requests that the gateway refused since the start.',
      value: `${count(point?.failed ?? 0)}/s`,
      note: `${count(status.requests.refused_total)} refused`,
      of: ({ failed }) => failed,
      bad: (point?.failed ?? 0) > 0,
    },
  ];
  return (
    <dl class="tiles">
      {tiles.map(({ name, help, value, note, of, bad }) => (
        <div key={name} class={bad === true ? 'card tile bad' : 'card tile'}>
          <dt>
            {name} <Help of={name} text={help} />
          </dt>
          <dd>
            <b>{value}</b>
            <small>{note}</small>
            <Spark values={model.points.slice(-90).map(of)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Spark({ values }: { values: readonly number[] }) {
  const top = Math.max(...values, Number.MIN_VALUE);
  const at = (value: number, place: number) =>
    `${((place / Math.max(values.length - 1, 1)) * 100).toFixed(1)},${(23 - (value / top) * 21).toFixed(1)}`;
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={values.map(at).join(' ')} />
    </svg>
  );
}
