/** Behaviour of the app's React: chosen once in the life of the process. */
import { lineOf, type Line } from './lines.js';
import { react18_3 } from './profiles/18.3.js';
import { react19_0 } from './profiles/19.0.js';
import { react19_1 } from './profiles/19.1.js';
import { react19_2 } from './profiles/19.2.js';
import { react19_3 } from './profiles/19.3.js';
import type { Profile } from './profiles/profile.js';
import { version } from './react.js';

const PROFILES: Record<Line, Profile> = {
  '18.3': react18_3,
  '19.0': react19_0,
  '19.1': react19_1,
  '19.2': react19_2,
  '19.3': react19_3,
};

/** Profile of the app's React. For an unknown version react-dom renders everything, so nothing is asked of its profile. */
export const profile: Profile = PROFILES[lineOf(version) ?? '19.3'];
