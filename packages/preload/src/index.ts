/**
 * Entry of the preload, loaded with `node --import` before the app. It arranges what must be in place when the app's
 * first line runs. `listen()` is caught, `process.send` exists, hooks can be registered, and the inspector's port is a
 * free one. Routers tell where their routes are registered, `@sluice/render` and `@sluice/graph` find their hosts, and the server modules of
 * react-dom are caught where `@sluice/react` is to render. Libraries that keep state in the process are reported. Everything else waits until this process (or thread) is the
 * one that serves. Without `SLUICE_SOCKET` in the environment it does nothing at all.
 */
import { isMainThread } from 'node:worker_threads';
import { Channel } from './channel/channel.js';
import { Control } from './control/control.js';
import { crashReportPath, reportCrashes } from './control/crash-report.js';
import { takeEarlyCalls } from './early-calls.js';
import { readSettings } from './env.js';
import { Hooks } from './requests/hooks.js';
import { freeInspectorPort } from './profiles/inspector-port.js';
import { catchListen } from './listen/listen.js';
import { reportLoaded } from './host/loaded.js';
import { tellOutgoingCalls } from './host/outgoing-calls.js';
import { tellOwnCalls } from './host/own-calls.js';
import { offerProcessMessages } from './control/process-messages.js';
import { catchReactDOM } from './host/react.js';
import { PageTags } from './answers/page-tags.js';
import { Purges } from './answers/purges.js';
import { channelKey, purgeKey, registryKey } from './requests/registry.js';
import { offerGraphHost } from './host/graph-host.js';
import { offerRenderHost } from './host/render-host.js';
import { reportState } from './host/state.js';
import { Routers } from './routes/routers.js';

const settings = readSettings(process.env);
// Loaded a second time, from another path for example, it leaves everything to the first.
if (settings !== undefined && !(registryKey in globalThis)) {
  freeInspectorPort();
  const control = new Control(settings);
  const hooks = new Hooks(() => control.send({ type: 'resets' }));
  Object.defineProperty(globalThis, registryKey, { value: hooks });
  const { purge, purgePages } = new Purges(control);
  Object.defineProperty(globalThis, purgeKey, { value: purge });
  offerRenderHost(control);
  offerGraphHost(control);
  tellOwnCalls(control, settings.portPublic);
  tellOutgoingCalls(control);
  const pageTags = settings.keepsPages ? new PageTags(purgePages) : undefined;
  const listenToEarly = takeEarlyCalls();
  Object.defineProperty(globalThis, channelKey, { value: new Channel(settings, control) });
  const routers = new Routers();
  const decide = catchListen(settings, control, hooks, routers, pageTags);
  // An app that says so has opened all its servers.
  if (isMainThread) {
    // In development, a page tells of the app's end.
    if (settings.loadedPath === undefined) {
      // Of the process that serves: those that it starts may be many, and their reports hold its environment.
      control.onOpen(() => reportCrashes(process.report, crashReportPath(settings.socketPath, process.pid)));
    }
    const takeLoaded = settings.loadedPath === undefined ? undefined : reportLoaded(settings.loadedPath);
    offerProcessMessages(control, decide, takeLoaded);
    if (takeLoaded !== undefined) (await import('./listen/forks.js')).takeFromForks(takeLoaded);
  }
  if (settings.rendersFast) catchReactDOM((why) => control.send({ type: 'react-off', why }));
  listenToEarly();
  reportState(control, process.argv[1]);
  await routers.watch(process.argv[1]);
}
