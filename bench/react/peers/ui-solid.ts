/** `ui` for Solid: its components run once, so that hooks are plain calls. */
export { createContext, createUniqueId as useId, useContext } from 'solid-js';

export const memo = <T>(component: T): T => component;
export const useMemo = <T>(make: () => T): T => make();
export const useState = <T>(first: T): [T, () => void] => [first, () => undefined];
