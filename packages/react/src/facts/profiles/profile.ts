/**
 * Behaviour that differs between the lines of React, by name: the renderer asks for these, never for a number. Read from react-dom's own
 * code and proved by the differential tests of each line. The newest line's file has all of them, each other file what its line does
 * otherwise than the next one.
 */
import type { Line } from '../lines.js';

export interface Profile {
  readonly line: Line;

  /** Functions of react-dom that this renderer takes over: streams alone, also those of `react-dom/static`, also those for web streams. */
  readonly api: 'streams' | 'prerender' | 'web';
  /** Hooks of React 18, those of 19, and those with `use(browser())`. */
  readonly hooks: 'of-18' | 'of-19' | 'with-browser';
  /** Element types, all of them symbols, that this React does not have. */
  readonly unknownTypes: readonly symbol[];
  /** `ViewTransition` animates, or is refused with the words for scopes. */
  readonly viewTransitions: 'as-scopes' | 'animate';
  /** `SuspenseList` is its children, or has an order in which they appear, which only react-dom knows. */
  readonly lists: 'as-children' | 'reveal';
  /** The names of the functions behind `preload` and the like; null where react-dom has none. */
  readonly resourceFunctions: string | null;

  /** Children that are big integers, promises or contexts: nothing and mistakes, or what they give. */
  readonly nodes: 'elements' | 'usables';
  /**
   * Components with `contextTypes`, `defaultProps` of what `memo` and `lazy` hold, and `ref` beside the properties; or with `ref`
   * among them.
   */
  readonly components: 'legacy' | 'modern';
  /** A context is the type of its consumers, or of its providers. */
  readonly contexts: 'consumer' | 'provider';
  /** Any element with an `is` is one; or only names with a dash, which have properties beside their attributes. */
  readonly customElements: 'by-is' | 'by-name';
  /**
   * Titles, stylesheets, scripts and the document's own tags. They are tags like all others, or are gathered for the head, of which only
   * the start tag is held back. Or all of `<head>` is held back and rendered when the rest of the page is, or it is rendered in its turn.
   */
  readonly head: 'in-place' | 'start-tag' | 'rendered-last' | 'held';
  /**
   * Prerendered fallbacks: they hoist like content, under the name of their boundary; or leave that to the content, under one of their own.
   */
  readonly fallbacks: 'like-content' | 'apart';

  /** Marks around the parts of an id: `:R…:`, `«R…»`, `_R_…_`. */
  readonly idMarks: readonly [start: string, root: string, end: string];
  /**
   * Places for ids: a component that asks for ids begins a place at which rendering may resume; or what waits below it resumes from
   * further out.
   */
  readonly idPlaces: 'none' | 'own';

  /**
   * Tasks that wait when the render has been aborted meanwhile. They still wait; or they do but for what was thrown itself, which the
   * abort takes the place of; or they are given up. Until then, a component resumes with the promises it has used, even if it was not
   * waiting in `use`.
   */
  readonly waiting: 'on' | 'unless-thrown' | 'until-aborted';
  /** An element that overflows the stack fails; is tried again on an empty one, unless it is the first of a task; or in any case that may end. */
  readonly overflow: 'fails' | 'fails-task' | 'tries-again';
  /**
   * An abort. It ends the render silently if it is outside of every boundary. Or it reports each task within the call, and in
   * each further one; or it does so once, in the next turn.
   */
  readonly abort: 'silently' | 'within-call' | 'next-turn';
  /**
   * Turns of a stream. It begins to work in the next turn, and also does the rest when its shell has failed. Or it begins at once, and ends
   * only behind a turn of work, when all is counted. Or it also ends within one.
   */
  readonly turns: 'begin-late' | 'end-late' | 'prompt';
  /** Fallback tasks that are not needed any more may end the render before what made them needless does; or they may not. */
  readonly droppedFallbacks: 'may-end' | 'held';
  /** A rejected promise without a reason throws undefined, or an error that says so. */
  readonly rejections: 'as-given' | 'with-reason';
  /** `onError` gets the error and has to return a string or nothing; or it gets components as well. */
  readonly reports: 'errors' | 'components';

  /** Content that is ready may come late when it is long or has stylesheets: never; also in the shell, for stylesheets; not there, as it waits anyway. */
  readonly outlining: 'never' | 'for-any-sheet' | 'for-late-sheets';
  /** Boundaries that wait are numbered apart from segments, or with them. */
  readonly boundaryIds: 'apart' | 'of-segments';
  /** A stretch that waits within a place of its own brings the marks of that place once more when it comes, or does not. */
  readonly boundaryMarks: 'repeated' | 'once';
  /** A place that was given up with its boundary fails what is sent, or is left out of it. */
  readonly givenUpPlaces: 'fail' | 'left-out';
  /** The shell tells the client when it was shown, and where it ends. */
  readonly shell: 'unmarked' | 'marked';
  /** One nonce is for all but import maps; scripts and styles may have one each; import maps have that of scripts. */
  readonly nonces: 'one' | 'each' | 'maps-too';
  /** Header hints are also for images in several sizes, which no header can describe. */
  readonly imageHints: 'all' | 'single';
  /** The property from which such a hint takes the referrer policy; once a slip in spelling. */
  readonly imageHintReferrer: 'refererPolicy' | 'referrerPolicy';
  /** The second `preloadModule` of one kind looks into the table of other preloads, which may not be there; or into that of modules. */
  readonly modulePreloads: 'confused' | 'apart';
  /** Bytes that the destination is handed at a time. */
  readonly viewBytes: number;
  /** Suffix of the name of a context where it is provided, in key paths. */
  readonly providerSuffix: string;
  /** Text behind the badge that says where an error comes from, in the console; null if there is none. */
  readonly badgeEnd: string | null;
  /** End of the message of what `use` throws, which user code may read. */
  readonly suspendedEnd: string;
  /** Address to which messages of errors lead. */
  readonly docsSite: string;
}
