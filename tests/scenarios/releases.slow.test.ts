// Ten releases of a real app, of which it is known what they are: the ruling on each has to fit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { Site, type Trial, type Version, Visitors, agent } from './trials.ts';
import { allOf } from './versions.ts';

test.after(() => agent.destroy());

/** CPU time of a page: over 1.5 ms, below which not every request is measured. */
const UNITS = 1;
const REQUESTS_MAX = 20_000;

type State = 'promoted' | 'held' | 'back';

interface Release {
  readonly name: string;
  readonly version: Omit<Version, 'version'>;
  /** States that fit. */
  readonly fits: readonly State[];
  /** Measure that has to be worse, where there is one. */
  readonly worse?: string;
  readonly lasts?: string;
}

// Too little may be known of an equal version on a busy machine; then a person is asked.
const equal: Release = { name: 'equal', version: {}, fits: ['promoted', 'held'], lasts: '30s' };
const RELEASES: readonly Release[] = [
  equal,
  { name: '30 % slower', version: { units: UNITS * 1.3 }, fits: ['back'], worse: 'CPU time' },
  equal,
  // Faster, so that nothing but its failures turns it back: two processes of one version may differ by some percent.
  {
    name: 'fails one of 100 requests',
    version: { units: UNITS * 0.9, fails_every: 100 },
    fits: ['back'],
    worse: 'failures',
  },
  { name: '10 % slower', version: { units: UNITS * 1.1 }, fits: ['back'], worse: 'CPU time' },
  equal,
  { name: 'fails a class', version: { fails_at: '/page2' }, fits: ['back'], worse: 'failures' },
  { name: 'crashes', version: { dies_after: 150 }, fits: ['back'] },
  equal,
  {
    name: 'leaks',
    version: { units: UNITS * 0.85, leaks_bytes: 8_192 },
    fits: ['held'],
    worse: 'heap',
    lasts: '240s',
  },
];

void test('ten releases of known truth get the ruling that fits', { timeout: 1_800_000 }, async (t) => {
  const site = await Site.start(t, { version: { version: 'one', units: UNITS } });
  const load = new Visitors(t, site, { each: 8 });
  let generation = 1;
  for (const [at, { name, version, fits, worse, lasts = '10m' }] of RELEASES.entries()) {
    const before = site.current;
    site.next({ units: UNITS, ...version, version: `release ${at}` });
    const reload = site.sluice.cli(['reload', '--canary', '30%', '--for', lasts, '--min-requests', '200']);
    generation += 1;
    const trial = await ruled(site, generation);
    const total = trial.requests + trial.requests_present;
    const findings = trial.findings.map(({ measure, verdict, change }) => `${measure} ${verdict} ${change}`);
    t.diagnostic(
      `${name}: ${trial.state} after ${total} requests: ${trial.reason}; ${findings.slice(0, 3).join(', ')}`,
    );
    if (trial.state === 'held') assert.equal((await site.sluice.cli(['canary', 'back'])).code, 0);
    const { code, stdout, stderr } = await reload;
    const said = `${name}: ${JSON.stringify(trial)}\n${stdout}${stderr}`;
    assert.ok((fits as readonly string[]).includes(trial.state), said);
    assert.equal(code, trial.state === 'promoted' ? 0 : 1, said);
    if (worse !== undefined) {
      assert.ok(
        trial.findings.some(({ measure, verdict }) => measure === worse && verdict === 'worse'),
        said,
      );
    }
    if (fits[0] === 'back') assert.ok(total <= REQUESTS_MAX, said);
    if (trial.state !== 'promoted') site.next(before);
    await allOf(
      site.sluice,
      trial.state === 'promoted' ? generation : (await site.sluice.status()).generation,
      2,
    );
  }
  await load.end();
  assert.deepEqual(load.failures, []);
});

/** The trial of this generation, when it is over or a person is asked and more requests would tell nothing. */
function ruled(site: Site, generation: number): Promise<Trial> {
  return eventually(
    async () => {
      const trial = await site.trial();
      if (trial?.generation !== generation) return undefined;
      if (trial.state === 'promoted' || trial.state === 'back') return trial;
      // Longer service time asks for a person at once, and the comparison continues.
      const isOver = trial.compared_s >= trial.lasts_s;
      const isFull = trial.requests + trial.requests_present > REQUESTS_MAX && trial.lasts_s > 300;
      return isFull || (trial.state === 'held' && isOver) ? trial : undefined;
    },
    { deadlineMs: 420_000, pauseMs: 1_000, what: `a ruling on generation ${generation}` },
  );
}
