/**
 * Entry of the preload, loaded with `node --import` before the app. It arranges what must be in place when the
 * app's first line runs: `listen()` is caught and `process.send` exists. Everything else waits until this process
 * (or thread) is the one that serves. Without `SLUICE_SOCKET` in the environment it does nothing at all.
 */
import { isMainThread } from 'node:worker_threads';
import { Control } from './control.js';
import { readSettings } from './env.js';
import { catchListen } from './listen.js';
import { offerProcessMessages } from './process-messages.js';

const settings = readSettings(process.env);
if (settings !== undefined) {
  const control = new Control(settings);
  if (isMainThread) offerProcessMessages(control);
  catchListen(settings, control);
}
