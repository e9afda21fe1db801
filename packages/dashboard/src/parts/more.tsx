// What there is not always: alarms, requests in quarantine, React, profiles of the tail.
import { bytes, clock, count, percent, time } from '../format.js';
import type { AlarmSnapshot, QuarantinedRequest, Snapshot, Tail } from '../snapshot.js';
import { Help } from './help.js';
import { Table } from './table.js';

export function Alarms({ alarms }: { alarms: readonly AlarmSnapshot[] }) {
  if (alarms.length === 0) return null;
  return (
    <section class="card alarms" aria-label="Alarms">
      <ul class="plain">
        {alarms.map((alarm) => (
          <li key={`${alarm.alarm}-${alarm.class ?? ''}`}>
            <b>{alarm.alarm.replaceAll('_', ' ')}</b>
            {alarm.class !== null && <code> {alarm.class}</code>}{' '}
            <small>for {time(alarm.age_s * 1000)}</small>
            <br />
            {alarm.text}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface QuarantineProps {
  requests: readonly QuarantinedRequest[];
  release: (id: string) => void;
}

export function Quarantine({ requests, release }: QuarantineProps) {
  if (requests.length === 0) return null;
  return (
    <section class="card" aria-labelledby="quarantine">
      <h2 id="quarantine">
        Quarantine{' '}
        <Help
          of="quarantine"
          text="Requests that crashed workers. The gateway answers them with 500, without a worker, until their quarantine ends."
        />
      </h2>
      <ul class="plain">
        {requests.map((request) => (
          <li key={request.id}>
            <code>
              {request.method} {request.target}
            </code>{' '}
            <small>
              {request.deaths} workers crashed, ends in {time(request.expires_in_ms)}
            </small>{' '}
            <button
              type="button"
              class="quiet"
              onClick={() => release(request.id)}
              aria-label={`Release ${request.method} ${request.target}`}
            >
              release
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Renders by `@sluice/react`, and how the queue's decisions went. */
export function Renders({ status }: { status: Snapshot }) {
  const { react, requests, component_cache: cache } = status;
  const left = react === null ? 0 : Object.values(react.fallbacks).reduce((sum, more) => sum + more, 0);
  return (
    <section class="card" aria-labelledby="renders">
      <h2 id="renders">Requests and renders</h2>
      <dl class="facts">
        {Object.entries(requests.outcomes).map(([name, many]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>{count(many)}</dd>
          </div>
        ))}
        <div>
          <dt>
            handed ahead{' '}
            <Help of="handed ahead" text="Cheap requests that a worker got shortly before it was idle." />
          </dt>
          <dd>{count(requests.handed_total)}</dd>
        </div>
        {react !== null && (
          <div>
            <dt>
              React renders{' '}
              <Help
                of="React renders"
                text="Renders by @sluice/react, and the share that fell back to react-dom."
              />
            </dt>
            <dd>
              {count(react.renders_total)}, {percent(left / Math.max(react.renders_total, 1))} by react-dom
            </dd>
          </div>
        )}
        {cache !== null && (
          <>
            <div>
              <dt>
                Component cache{' '}
                <Help
                  of="component cache"
                  text="Renders of components with <Cached> or a cacheKey since the start, and the share that reused cached HTML."
                />
              </dt>
              <dd>
                {percent(cache.hits_total / Math.max(cache.hits_total + cache.misses_total, 1))} of{' '}
                {count(cache.hits_total + cache.misses_total)}
              </dd>
            </div>
            <div>
              <dt>
                Cached HTML{' '}
                <Help
                  of="cached HTML"
                  text="Estimated memory of the component caches of all workers, its limit, and the number of entries. Evicted entries made room for others."
                />
              </dt>
              <dd>
                {bytes(cache.bytes)} of {bytes(cache.bytes_max)}, {count(cache.entries)} entries,{' '}
                {count(cache.evictions_total)} evicted
              </dd>
            </div>
          </>
        )}
        {status.concurrency.advice !== null && (
          <div class="wide">
            <dt>
              Mode{' '}
              <Help
                of="mode"
                text="workers.concurrency, and the value that fits the observed behaviour of the app."
              />
            </dt>
            <dd>
              {status.concurrency.mode}: {status.concurrency.advice}
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** Savings and contents of the page cache; nothing while it is off. */
export function Pages({ cache }: { cache: Snapshot['page_cache'] }) {
  if (cache === null) return null;
  const answered = cache.hits + cache.stale + cache.joined;
  const asked = answered + cache.misses + cache.bypassed;
  const of = (many: number): string => `${count(many)} (${percent(many / Math.max(asked, 1))})`;
  const facts: [name: string, value: string, help: string][] = [
    [
      'answered without a render',
      of(answered),
      'Requests that got a page rendered for another request, and their share of all requests to the cache.',
    ],
    ['hits', of(cache.hits), 'Requests that got a fresh cached page.'],
    [
      'stale',
      of(cache.stale),
      'Requests that got a stale cached page, because a new one was being rendered or could not be rendered.',
    ],
    ['joined', of(cache.joined), 'Requests that shared the render of another request.'],
    ['misses', of(cache.misses), 'Requests for which a page was rendered.'],
    [
      'bypassed',
      of(cache.bypassed),
      'Requests that bypassed the cache: another method, or an excluded path.',
    ],
    [
      'kept',
      `${count(cache.pages)} pages, ${bytes(cache.bytes)} of ${bytes(cache.bytes_max)}`,
      'Cached pages in memory, their size, and the limit (cache.bytes_max).',
    ],
    [
      'stored, purged',
      `${count(cache.stored)}, ${count(cache.purged)}`,
      'Stored pages and purged pages since the start.',
    ],
  ];
  if (cache.shared !== null) {
    const { address, up, hits, misses } = cache.shared;
    facts.push([
      'shared',
      `${up ? 'in use' : 'not in use'}, ${count(hits)} of ${count(hits + misses)} found`,
      `Pages found in the shared cache, of all look-ups in ${address}.`,
    ]);
  }
  return (
    <section class="card" aria-labelledby="pages">
      <h2 id="pages">Page cache</h2>
      <dl class="facts">
        {facts.map(([name, value, text]) => (
          <div key={name}>
            <dt>
              {name} <Help of={name} text={text} />
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface TailsProps {
  tails: readonly Tail[];
  show: (id: number) => void;
}

export function Tails({ tails, show }: TailsProps) {
  if (tails.length === 0) return null;
  return (
    <section class="card" aria-labelledby="tails">
      <h2 id="tails">
        Slow requests with a profile{' '}
        <Help
          of="profiles of the tail"
          text="When a request exceeds the usual 99th percentile of its class, Sluice profiles some of the next requests. These were the slowest. CPU is the CPU time of the worker's process meanwhile."
        />
      </h2>
      <Table label="Table of slow requests">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Class</th>
            <th scope="col" class="number">
              Service time
            </th>
            <th scope="col" class="number">
              CPU
            </th>
            <th scope="col" class="number">
              Usual p99
            </th>
            <th scope="col">Request</th>
            <th scope="col">
              <span class="unseen">Flame graph</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tails.map((tail) => (
            <tr key={tail.id}>
              <th scope="row">{clock(tail.at_unix_ms)}</th>
              <td class="name">
                <code>{tail.class}</code>
              </td>
              <td class="number">{time(tail.service_ms)}</td>
              <td class="number">{time(tail.cpu_ms)}</td>
              <td class="number">{time(tail.usual_ms)}</td>
              <td class="name">
                <code>{tail.target}</code> <small>worker {tail.worker}</small>
              </td>
              <td>
                <button
                  type="button"
                  class="quiet"
                  onClick={() => show(tail.id)}
                  aria-label={`Flame graph of ${tail.class} at ${clock(tail.at_unix_ms)}`}
                >
                  flame graph
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  );
}
