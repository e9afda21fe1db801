// Workers: what each does now.
import { bytes, count, percent, time } from '../format.js';
import type { Model } from '../feed/model.js';
import type { WorkerSnapshot } from '../snapshot.js';
import { Help } from './help.js';
import { Table } from './table.js';

const HELP: Record<string, string> = {
  State:
    'Ready: waits for a request. Busy: has at least one. Leaving: gets no new ones. Backoff: restarts after a pause.',
  Now: 'Class of each request in the worker, and time since the worker got it.',
  CPU: 'CPU time of the process in the last second; 100 % is one core.',
  Memory: 'Resident memory of the process.',
  Served: 'Requests that this worker has answered.',
  Restarts: 'Number of restarts of the process at this position.',
};

interface Props {
  model: Model;
  profile: (worker: number) => void;
}

export function Workers({ model, profile }: Props) {
  const workers = model.frame?.status.workers ?? [];
  const hasLanes = workers.some(({ lane }) => lane === 'long');
  return (
    <section class="card" aria-labelledby="workers">
      <h2 id="workers">
        Workers <small>{workers.length}</small>
      </h2>
      <Table label="Table of workers" tall>
        <thead>
          <tr>
            <th scope="col">Worker</th>
            {Object.entries(HELP).map(([name, text]) => (
              <th scope="col" key={name} class={name === 'State' || name === 'Now' ? '' : 'number'}>
                {name} <Help of={name} text={text} />
              </th>
            ))}
            <th scope="col" class="number">
              Age
            </th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={`${worker.instance}-${worker.id}`}>
              <th scope="row">
                {worker.id === 0 ? '–' : worker.id}
                <small> gen {worker.generation}</small>
                {hasLanes && <small> {worker.lane}</small>}
              </th>
              <td>
                <span class={`dot ${worker.state}`} /> {worker.state}
                {worker.lowered && <small> lowered</small>}
              </td>
              <td class="now">
                <Now worker={worker} />
              </td>
              <td class="number">{cpu(model.workerCpu.get(worker.id))}</td>
              <td class="number">{bytes(worker.rss_bytes)}</td>
              <td class="number">{count(worker.requests_total)}</td>
              <td class="number">{worker.restarts_total}</td>
              <td class="number">{worker.pid === null ? '–' : time(worker.age_s * 1000)}</td>
              <td>
                {worker.pid !== null && (
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => profile(worker.id)}
                    aria-label={`Profile worker ${worker.id}`}
                  >
                    profile
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  );
}

const cpu = (cores: number | undefined): string => (cores === undefined ? '–' : percent(cores));

function Now({ worker }: { worker: WorkerSnapshot }) {
  const [first, ...others] = worker.current;
  if (first === undefined) return <small>{worker.streams > 0 ? `${worker.streams} streams` : ''}</small>;
  return (
    <>
      <code title={`request ${first.id}`}>{first.class}</code> <b>{time(first.for_ms)}</b>
      {others.length > 0 && <small> and {others.length} more</small>}
    </>
  );
}
