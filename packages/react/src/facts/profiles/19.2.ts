import { react19_3 } from './19.3.js';
import type { Profile } from './profile.js';

export const react19_2: Profile = {
  ...react19_3,
  line: '19.2',
  hooks: 'of-19',
  viewTransitions: 'as-scopes',
  overflow: 'fails-task',
  abort: 'within-call',
  droppedFallbacks: 'may-end',
  rejections: 'as-given',
  outlining: 'for-any-sheet',
  boundaryMarks: 'repeated',
  nonces: 'each',
  imageHintReferrer: 'refererPolicy',
  modulePreloads: 'confused',
  viewBytes: 2048,
};
