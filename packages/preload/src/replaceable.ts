/**
 * A router that is replaced as a whole, for routes that change while the app serves: from a database, or by a plugin. Routes that are added
 * to a router that serves stay in it for ever; a fresh router has only those that hold. It must not know any framework.
 */

/** A router as a function: of Express, or `routes()` of Koa's. */
export type RouterFunction = (...args: never[]) => unknown;

export interface Replaceable<R extends RouterFunction> {
  /** The function to mount, once, as in `app.use(routes.handle)`. Each request takes the whole router that is there when it comes. */
  readonly handle: R;
  /**
   * Builds a fresh router and puts it in the place of the present one. Calls during a build wait for one more build, which they share.
   * If the build fails, the call rejects with its error, and the present router stays.
   */
  replace(): Promise<void>;
}

/**
 * Builds the first router, and resolves with what stands for it and its successors:
 *
 *     const routes = await replaceable(async () => {
 *       const router = express.Router();
 *       for (const page of await pages()) router.get(page.path, show(page));
 *       return router;
 *     });
 *     app.use(routes.handle);
 *     pages.on('change', () => routes.replace().catch(report));
 *
 * @throws whatever the build throws, {@link TypeError} if it returns no function.
 */
export async function replaceable<R extends RouterFunction>(
  build: () => R | Promise<R>,
): Promise<Replaceable<R>> {
  let current = await built(build);
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const replaceNow = async (): Promise<void> => {
    current = await built(build);
  };
  const start = (): Promise<void> => {
    running = replaceNow().finally(() => (running = undefined));
    return running;
  };
  return {
    // A function with four parameters would be a handler of errors in Express.
    handle: ((...args: never[]) => current(...args)) as R,
    replace() {
      if (next !== undefined) return next;
      if (running === undefined) return start();
      // What has changed since the build began may not be in it.
      next = running
        .catch(() => {})
        .then(() => {
          next = undefined;
          return start();
        });
      return next;
    },
  };
}

async function built<R extends RouterFunction>(build: () => R | Promise<R>): Promise<R> {
  const router: unknown = await build();
  if (typeof router === 'function') return router as R;
  throw new TypeError(
    `replaceable() needs a function as a router, as express.Router() or routes() of Koa's, and got ${router === null ? 'null' : typeof router}`,
  );
}
