/**
 * Random async functions of nested loops, compiled and plain: the same steps in the same order, and the same result or error, however
 * often the loops yield.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, randomFrom, seed } from '../../../../tests/support/chance.js';
import { compileLoops } from '../../src/loops/index.js';

const runs = long ? 20_000 : 400;

/** A program is a list of numbers; each choice takes the next one. */
class Writer {
  readonly #choices: readonly number[];
  #place = 0;
  #names = 0;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  program(): string {
    return `async function main() { let x = 0, y = 1; ${this.block(3, [])} return [x, y]; }`;
  }

  block(depth: number, labels: readonly string[]): string {
    const statements: string[] = [];
    for (let count = 1 + this.#pick(3); count > 0; count -= 1)
      statements.push(this.#statement(depth, labels));
    return statements.join(' ');
  }

  #pick(below: number): number {
    const choice = this.#choices[this.#place % this.#choices.length] ?? 0;
    this.#place += 1;
    return choice % below;
  }

  #one(...texts: readonly string[]): string {
    return texts[this.#pick(texts.length)] ?? '';
  }

  #name(): string {
    this.#names += 1;
    return `v${this.#names}`;
  }

  /** `labels` holds those of the loops around, an empty text for a loop without one. */
  #statement(depth: number, labels: readonly string[]): string {
    const kind = this.#pick(depth > 0 ? 16 : 8);
    if (kind >= 12) return this.#loop(depth, labels);
    switch (kind) {
      case 0:
        return this.#one('x += step();', 'y = step() - x;', 'x++;');
      case 1:
        return this.#jump(labels);
      case 2:
        return this.#one('calls.push(() => [x, y]);', 'later(() => x * 10 + y);');
      case 3:
        return this.#one('await null;', 'x += await step();', 'await Promise.resolve(step());');
      case 4:
        return this.#one(
          'if (x % 3 === 2) throw new Error("thrown " + x);',
          'if (step() % 5 === 4) return x;',
        );
      case 8:
        return `if (${this.#test()}) { ${this.block(depth - 1, labels)} } else ${this.#statement(depth - 1, labels)}`;
      case 9:
        return `try { ${this.block(depth - 1, labels)} } catch (error) { log(String(error)); ${this.block(0, labels)} } finally { log('finally'); ${this.#one('', 'step();', this.#jump(labels))} }`;
      case 10:
        return `switch (step() % 3) { case 0: ${this.block(depth - 1, labels)} case 1: ${this.#statement(depth - 1, labels)} break; default: step(); }`;
      case 11:
        return `{ const ${this.#name()} = step(); ${this.block(depth - 1, labels)} }`;
      default:
        return 'step();';
    }
  }

  #test(): string {
    return this.#one('step() % 2', 'x < y', 'step() % 3 > 0');
  }

  #jump(labels: readonly string[]): string {
    const inner = labels.at(-1);
    if (inner === undefined) return 'step();';
    const named = labels.filter((label) => label !== '');
    const label = named.length === 0 ? '' : (named[this.#pick(named.length)] ?? '');
    return `if (${this.#test()}) ${this.#one('break', 'continue')} ${this.#one('', label)};`;
  }

  #loop(depth: number, labels: readonly string[]): string {
    const name = this.#name();
    const label = this.#one('', `l${name}`);
    const within = [...labels, label];
    const head = this.#one(
      `for (let ${name} = 0; ${name} < 4; ${name} += 1)`,
      `for (var ${name} = 3; ${name}-- > 0; step())`,
      `for (const ${name} of [1, 2, 3])`,
      `for (let ${name} of items(3))`,
      `for (const [${name}, other = step()] of [[1], [2, 3]])`,
      `for (x of items(2))`,
      'while (step() % 4)',
      'do',
    );
    const own = /(?:let|const \[?)\s?(v\d+)/.exec(head)?.[1];
    const closure = own === undefined ? '' : this.#one('', `calls.push(() => ${own});`);
    const body =
      this.#one('block', 'block', 'bare') === 'bare' ? this.#statement(depth - 1, within) : undefined;
    const whole = body ?? `{ ${closure} ${this.block(depth - 1, within)} }`;
    const end = head === 'do' ? ' while (step() % 3);' : '';
    return `${label === '' ? '' : `${label}: `}${head} ${whole}${end}`;
  }
}

type Main = (world: World) => Promise<unknown>;

/** What a program acts upon. All of it is written down. */
class World {
  readonly said: unknown[] = [];
  readonly calls: (() => unknown)[] = [];
  #steps = 0;

  step = (): number => {
    this.#steps += 1;
    if (this.#steps > 200) throw new Error('enough');
    this.said.push(this.#steps);
    return this.#steps;
  };
  log = (text: string): void => void this.said.push(text);
  later = (call: () => unknown): void => void this.calls.push(call);
  items = (count: number): Iterable<number> => {
    const { said } = this;
    let given = 0;
    return {
      [Symbol.iterator]: () => ({
        next() {
          given += 1;
          said.push(`item ${given}`);
          return given > count ? { done: true, value: undefined } : { done: false, value: given };
        },
        return() {
          said.push('closed');
          return { done: true, value: undefined };
        },
      }),
    };
  };
}

/** Yields whenever chance says so, in place of the clock. */
function breatherBy(chance: () => boolean): { readonly type: unknown; readonly yields: () => number } {
  let yields = 0;
  class Breather {
    isDue = chance;
    breathe = (): Promise<void> => {
      yields += 1;
      return new Promise((resolve) => void setImmediate(resolve));
    };
  }
  return { type: Breather, yields: () => yields };
}

function load(code: string, Breather: unknown): Main {
  const body = code.replace(
    /^import \{ Breather as (\w+) \} from "@sluice\/breathe";/,
    'const $1 = Breather;',
  );
  // oxlint-disable-next-line typescript/no-implied-eval -- generated programs
  const make = new Function(
    'Breather',
    'world',
    `const { step, log, later, items, calls } = world; ${body}; return main();`,
  );
  return async (world) => make(Breather, world) as Promise<unknown>;
}

async function outcome(main: Main): Promise<readonly unknown[]> {
  const world = new World();
  let result: unknown;
  try {
    result = await main(world);
  } catch (error) {
    result = String(error);
  }
  return [result, world.said, world.calls.map((call) => call())];
}

void test(`compiled loops do what plain ones do (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  let yields = 0;
  let changed = 0;
  await fc
    .assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 20, maxLength: 80 }), async (choices) => {
        const source = `/* @breathe */ ${new Writer(choices).program()}`;
        const compiled = await compileLoops(source, '/program.js');
        if (compiled === undefined) return;
        changed += 1;
        const plain = await outcome(load(source, undefined));
        for (const chance of [() => true, () => random(3) === 0, () => false]) {
          const breather = breatherBy(chance);
          assert.deepEqual(await outcome(load(compiled.code, breather.type)), plain, source);
          yields += breather.yields();
        }
      }),
      { numRuns: runs, seed },
    )
    .catch((error: unknown) => {
      console.error(`replay with SLUICE_SEED=${seed}`);
      throw error;
    });
  assert.ok(changed > runs / 4 && yields > runs, `${changed} programs changed, ${yields} yields`);
});
