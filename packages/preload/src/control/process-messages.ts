/**
 * `process.send`, `process.connected`, `process.disconnect` and 'message' as a forked process has them, over the
 * control channel. If Node already gave the process a channel to its parent, that one is left alone and only the
 * gateway's messages are delivered. Messages of the app go to the gateway; `onReady` hears of the one word that others
 * act on as well.
 *
 * Unlike Node's channel, a 'message' listener does not keep the process alive. A worker whose servers are closed has
 * nothing left to wait for, and must not hold up a stop.
 */
import type { Control } from './control.js';
import type { TakeLoaded } from '../host/loaded.js';

type SendCallback = (error: Error | null) => void;

export function offerProcessMessages(control: Control, onReady: () => void, takeLoaded?: TakeLoaded): void {
  let connected = true;
  control.onMessage((said) => {
    if (connected && said.type === 'message') process.emit('message', said.message, undefined);
  });
  tellOfListeners(control);
  if (typeof process.send === 'function') return;

  const send = (message: unknown, ...rest: readonly unknown[]): boolean => {
    if (message === undefined) {
      throw Object.assign(new TypeError('The "message" argument must be specified'), {
        code: 'ERR_MISSING_ARGS',
      });
    }
    if (takeLoaded?.(message) === true) return true;
    if (connected && message === 'ready') onReady();
    const callback = rest.find((value): value is SendCallback => typeof value === 'function');
    const taken = connected && control.send({ type: 'send', message });
    const error = connected
      ? null
      : Object.assign(new Error('Channel closed'), { code: 'ERR_IPC_CHANNEL_CLOSED' });
    if (callback !== undefined) process.nextTick(callback, error);
    else if (error !== null) process.nextTick(() => process.emit('error' as 'warning', error));
    return taken;
  };
  const disconnect = (): void => {
    if (!connected) return;
    connected = false;
    Object.assign(process, { connected: false });
    process.nextTick(() => process.emit('disconnect'));
  };
  Object.assign(process, {
    send,
    disconnect,
    connected: true,
    // Apps call these to let a worker end although it listens to messages. Here it may end anyway.
    channel: { ref: () => {}, unref: () => {}, hasRef: () => false },
  });
}

/** The gateway asks an app to leave with a message only where somebody listens; others get a signal. */
function tellOfListeners(control: Control): void {
  const look = (event: string | symbol): void => {
    if (event !== 'message') return;
    process.off('newListener', look);
    control.send({ type: 'hears-messages' });
  };
  process.on('newListener', look);
}
