/** Timers and the clock of the preload, taken before the app can replace them, by fake timers for example. */
export const later = setTimeout;
export const every = setInterval;
export const noLater = clearTimeout;
export const nextTurn = setImmediate;
export const now_ms = performance.now.bind(performance);
