/**
 * `@sluice/render/hypernova`: what servers and components import from `hypernova` and `hypernova/server`, so that they move by
 * changing the import. One process serves: how many run, and what becomes of one that dies, is Sluice's to decide.
 */
import type { Server } from 'node:http';
import { createServer, middleware } from '../http/handler.js';
import { fragmentsOf, type Fragments } from './fragments.js';
import { createGetComponent, getFiles, refuseVm } from './hypernova-files.js';
import {
  bodyOptions,
  checkOptions,
  isExpressApp,
  type ExpressApp,
  type HypernovaOptions,
  type Logger,
} from './hypernova-options.js';
import { FragmentServer } from './hypernova-server.js';
import { hypernovaSource } from './hypernova-source.js';
import { isHalves, runHalf, type Halves } from './isomorphic.js';
import { DATA_ID, DATA_KEY, fromScript, load, serialize, toScript } from './markup.js';

export { createGetComponent, getFiles, type ComponentFile } from './hypernova-files.js';
export { DATA_ID, DATA_KEY, fromScript, load, serialize, toScript, type Loaded } from './markup.js';
export type { BodyParserOptions, ExpressApp, HypernovaOptions, Logger } from './hypernova-options.js';
export type { BatchContext, JobContext, Plugin } from './plugins.js';

/** Called before the batches are added to the app. */
export type OnServer = (app: ExpressApp, process: NodeJS.Process) => void;

/** Hosts wait one second or so; this is for those that wait longer. Hypernova has no limit. */
const TIMEOUT_MS = 10_000;
const BUDGET_MS = 1_000;

/**
 * Serves `POST /batch`, and returns the app of `createApplication`, or the server where there is none. It listens once the
 * `initialize` hooks of all plugins are done. Throws a `TypeError` for options that it cannot honour.
 */
function hypernova(options: HypernovaOptions, onServer?: OnServer): Server | ExpressApp;
/** Function for components: runs the half of the side that it is on. */
function hypernova<S, C = never>(halves: Halves<S, C>): S | C;
function hypernova(given: HypernovaOptions | Halves<unknown, unknown>, onServer?: OnServer): unknown {
  return isHalves(given) ? runHalf(given) : serve(given, onServer);
}

hypernova.createGetComponent = createGetComponent;
hypernova.getFiles = getFiles;
hypernova.DATA_ID = DATA_ID;
hypernova.DATA_KEY = DATA_KEY;
hypernova.fromScript = fromScript;
hypernova.load = load;
hypernova.serialize = serialize;
hypernova.toScript = toScript;
hypernova.createVM = (): never => refuseVm('createVM()');
hypernova.loadModules = (): never => refuseVm('loadModules()');

export default hypernova;

function serve(options: HypernovaOptions, onServer: OnServer | undefined): Server | ExpressApp {
  checkOptions(options, onServer !== undefined);
  const logger = options.loggerInstance ?? consoleLogger;
  const { processJobsConcurrently: isConcurrent = true } = options;
  const fragments = fragmentsOf(
    hypernovaSource(options.getComponent),
    { timeoutMs: TIMEOUT_MS, budgetMs: BUDGET_MS, ...options, ...bodyOptions(options), isConcurrent },
    options,
  );
  const { app, listen } = appOf(options, fragments, onServer);
  const start = (): Server => {
    const server = listen(...listenArgsOf(options));
    server.once('listening', () => logger.log('info', 'Connected', { listen: server.address() }));
    return server;
  };
  void new FragmentServer(fragments, start, logger).start();
  return app;
}

interface App {
  readonly app: Server | ExpressApp;
  readonly listen: (...parts: readonly unknown[]) => Server;
}

function appOf({ createApplication }: HypernovaOptions, fragments: Fragments, onServer?: OnServer): App {
  if (createApplication === undefined) {
    const server = createServer(fragments.handle);
    return { app: server, listen: (...parts) => Reflect.apply(server.listen.bind(server), undefined, parts) };
  }
  const app: unknown = createApplication();
  if (!isExpressApp(app)) {
    throw new TypeError('`createApplication` returned no Express app with use(), post() and listen()');
  }
  onServer?.(app, process);
  app.use(middleware(fragments.handle));
  return { app, listen: (...parts) => app.listen(...(parts as never[])) };
}

function listenArgsOf({ listenArgs, port, host = '0.0.0.0' }: HypernovaOptions): readonly unknown[] {
  return listenArgs ?? [port ?? Number(process.env['PORT'] ?? 8080), host];
}

const consoleLogger: Logger = {
  log(level, message, meta) {
    const write = level === 'error' ? console.error : console.info;
    if (meta === undefined) write(message);
    else write(message, meta);
  },
};
