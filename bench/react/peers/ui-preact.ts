/** `ui` for Preact. */
export { createContext } from 'preact';
export { useContext, useId, useMemo, useState } from 'preact/hooks';

/** Server renders do not compare props. */
export const memo = <T>(component: T): T => component;
