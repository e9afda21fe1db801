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
          text="Requests that workers died with. They are answered 500 without a worker until their time is over."
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
            <Help of="handed ahead" text="Cheap requests that a worker got shortly before it was free." />
          </dt>
          <dd>{count(requests.handed_total)}</dd>
        </div>
        {react !== null && (
          <div>
            <dt>
              React renders{' '}
              <Help
                of="React renders"
                text="Renders by @sluice/react, and the part of them that was left to react-dom."
              />
            </dt>
            <dd>
              {count(react.renders_total)}, {percent(left / Math.max(react.renders_total, 1))} left to
              react-dom
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
                  text="Components with <Cached> or a cacheKey, and the part of them whose HTML was used again, since the start."
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
                  text="About what the component caches of all workers take in memory, of what they may, in so many entries. Evicted entries made room for others."
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
                text="workers.concurrency, and which of its values fits what was seen of the app."
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
      'Requests that got a page that was rendered for another, of all that were looked up.',
    ],
    ['hits', of(cache.hits), 'Requests that got a kept page within its time.'],
    [
      'stale',
      of(cache.stale),
      'Requests that got a kept page after its time, because a new one was on its way or could not be had.',
    ],
    ['joined', of(cache.joined), 'Requests that got a page while it was rendered for another.'],
    ['misses', of(cache.misses), 'Requests for which a page was rendered.'],
    [
      'bypassed',
      of(cache.bypassed),
      'Requests that the cache had nothing to do with: another method, or a path that is excluded.',
    ],
    [
      'kept',
      `${count(cache.pages)} pages, ${bytes(cache.bytes)} of ${bytes(cache.bytes_max)}`,
      'Pages in memory, and what they may take together (cache.bytes_max).',
    ],
    [
      'stored, purged',
      `${count(cache.stored)}, ${count(cache.purged)}`,
      'Pages that were kept, and pages that were purged, since the start.',
    ],
  ];
  if (cache.shared !== null) {
    const { address, up, hits, misses } = cache.shared;
    facts.push([
      'shared',
      `${up ? 'in use' : 'not in use'}, ${count(hits)} of ${count(hits + misses)} found`,
      `Pages that other gateways had rendered, of those that were looked up in ${address}.`,
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
          text="When a class is slower than its usual 99th percentile, some of its next requests are profiled. These were the worst. CPU is what the worker's process used meanwhile."
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
