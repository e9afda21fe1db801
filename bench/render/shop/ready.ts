// A mark in the browser's timeline for each component that has become interactive. The same in all builds, so that one definition of
// "interactive" holds for all servers.
import { useEffect } from 'react';

export const READY = 'ready:';

export function useReady(name: string): void {
  useEffect(() => {
    performance.mark(`${READY}${name}`);
  }, [name]);
}
