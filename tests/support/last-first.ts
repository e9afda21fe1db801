// What a test cleans up by `t.after`, last first: a gateway is stopped before the folder goes that it was started in. `node:test` itself
// runs such hooks in the order in which they were given. Importing this module is enough: it changes the contexts of the file's tests.
import { beforeEach, type TestContext } from 'node:test';

type Clean = () => unknown;

beforeEach((context) => {
  const test = context as TestContext;
  const after = test.after.bind(test);
  const hooks: Clean[] = [];
  test.after = (clean) => {
    hooks.push(clean as Clean);
    if (hooks.length === 1) after(() => runLastFirst(hooks));
  };
});

/** Runs all of them, also after one that fails, and rejects with the first error. */
export async function runLastFirst(hooks: Clean[]): Promise<void> {
  const errors: unknown[] = [];
  for (let clean = hooks.pop(); clean !== undefined; clean = hooks.pop()) {
    try {
      await clean();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
