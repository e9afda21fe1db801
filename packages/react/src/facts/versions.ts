/**
 * What React 18.3 and the minors of React 19 do otherwise than the newest, by the name of what is done: the renderer asks for these, never for a
 * number. Read from react-dom's own code and proved by the differential tests of each minor.
 */
import { minor19 } from './react.js';

/** 18.3 is before each of them. */
const before = (minor: number): boolean => minor19 < minor;

// Until 19.3 -------------------------------------------------------------------------------------------------------

/** An abort reports each task as it comes to it, within the call, and again in each further call, even when the render has ended. */
export const abortsWithinCall = before(3);
/** The caller's abort signal is listened to for as long as it lives. */
export const keepsAbortSignal = before(3);
/** A render that failed in its shell may be told that it is complete. */
export const completesAfterFailure = before(3);
/** Fallback tasks that are not needed any more may end the render before the one that made them needless does: it then ends twice. */
export const mayCompleteTwice = minor19 === 2;
/** A stretch of the page that waits within a place of its own brings the marks of that place once more when it comes. */
export const repeatsBoundaryMarks = before(3);
/** A boundary in the shell comes late for a stylesheet's sake, although the shell has to wait for stylesheets anyway. */
export const stylesheetsDelayShell = before(3);
/** Of what is written, the destination is handed as much at a time. */
export const viewBytes = before(3) ? 2048 : 4096;
export const importMapHasNonce = !before(3);
/** The property from which a header takes the referrer policy of an image: a slip in spelling. */
export const imageHintReferrerPolicy = before(3) ? 'refererPolicy' : 'referrerPolicy';
/** A rejected promise without a reason throws undefined. */
export const throwsMissingReason = before(3);
/** A task whose own first component overflows the stack fails, instead of being tried again. */
export const overflowFailsTask = before(3);
/** The second `preloadModule` of a kind looks into the table of other preloads, which may not be there. */
export const confusesModulePreloads = before(3);
export const hasBrowserOnly = !before(3);
export const hasViewTransition = !before(3);

// Until 19.2 -------------------------------------------------------------------------------------------------------

export const hasActivity = !before(2);
/** `SuspenseList` has an order in which its content appears. */
export const listsReveal = !before(2);
/** Content that is ready may still come late, when it is long or has stylesheets. */
export const outlinesContent = !before(2);
/** A fallback that is prerendered hoists its title, meta and links; later ones are left to the content. */
export const hoistsFromPrerenderedFallbacks = before(2);
/** A fallback stands where its boundary stands in component stacks, under the boundary's name. */
export const namesFallbackSuspense = before(2);
/** A task counts as pending until all that its end brings about is done. */
export const countsTaskLast = before(2);
/** What waits still waits when the render has been aborted meanwhile. */
export const waitsWhileAborted = before(2);
/** In 19.0 and 19.1, unless the promise itself was thrown: a task that waits for it as a whole takes the abort for what was thrown. */
export const abortsForThrown = !before(0) && before(2);
/** A component goes on with the promises it has used also when it was not `use` that it was waiting in. */
export const keepsPromises = before(2);
/** The page does not end within a turn of work, only behind it. */
export const endsAfterWork = before(2);
/** A place that was given up with its boundary may not be in what is sent. */
export const failsOnAborted = before(2);
/** One nonce is for all; since then, scripts and styles may have one each. */
export const hasOneNonce = before(2);
/** Behind the name of where an error comes from, in the console. */
export const badgeEnd = before(2) ? ' ' : '';
export const hasWebStreams = !before(2);
/** Prerendering says whether anything was postponed. */
export const tellsPostponed = !before(2);
/** The shell tells the client when it was shown, and where it ends. */
export const marksShell = !before(2);
/** Behind the name of a context where it is provided, in key paths. */
export const providerSuffix = before(2) ? '.Provider' : '';

// Until 19.1 -------------------------------------------------------------------------------------------------------

/** The whole of `<head>` is held back for what the page hoists; before, only its start tag was. */
export const holdsHead = !before(1);
/** In 19.1, the content of `<head>` is rendered when the rest of the page has been. */
export const headComesLater = minor19 === 1;
/** In 19.1, a boundary may hold the document in a string too, and says behind its content, by a number, which tags it held. */
export const numbersDocumentTags = minor19 === 1;
/** Header hints may be for images in several sizes, which no header can describe. */
export const hintsImageSets = before(1);

/** How the message of what `use` throws ends, which user code may read. */
export const suspendedEnd = before(1) ? '' : '.';
/** What stands around the parts of an id: `:R…:`, `«R…»`, `_R_…_`. */
export const idMarks = !before(2)
  ? (['_', 'R_', '_'] as const)
  : before(1)
    ? ([':', 'R', ':'] as const)
    : (['\u00ab', 'R', '\u00bb'] as const);

// Until 19.0, in React 18 ------------------------------------------------------------------------------------------------

/** Titles, stylesheets, scripts and the like go into the document's head, and images are preloaded; before, they are tags like all others. */
export const hoists = !before(0);
/** A promise or a context may stand among children for what it gives. */
export const unwrapsNodes = !before(0);
export const writesBigInts = !before(0);
/** An element that overflows the stack is tried again on an empty one. */
export const restartsElements = !before(0);
/** Boundaries that wait are numbered apart from segments. */
export const countsBoundaries = before(0);
/** A context is the type of its providers; before, it was that of its consumers. */
export const contextProvides = !before(0);
/** `ref` is a property like others; before, it was beside them. */
export const refIsProperty = !before(0);
/** Contexts by `contextTypes` and `getChildContext`, and functions that return an instance. */
export const hasLegacyComponents = before(0);
/** `defaultProps` of what `memo` and `lazy` hold; elements have those of their own type. */
export const resolvesDefaultProps = before(0);
/** Any element with an `is` is written like a custom one. */
export const customizesByIs = before(0);
/** Custom elements have properties beside their attributes, which are not written. */
export const hasCustomProperties = !before(0);
/** A component that asks for ids begins a place of its own, at which rendering may go on. */
export const idsBeginPlaces = !before(0);
/** `use`, form actions and what else has a hook of its own since then. */
export const hasHooksOf19 = !before(0);
export const hasDebugTraces = before(0);
/** An abort outside of every boundary ends the render without a word. */
export const abortsShellSilently = before(0);
/** A stream begins to work in the next turn; before its first one ends, since then. */
export const beginsNextTurn = before(0);
/** What is left to do is done also when the shell has failed. */
export const worksAfterFailure = before(0);
/** What ends or breaks a destination is not noticed: it is flushed to, and ended, again. */
export const keepsDestination = before(0);
/** `onError` is told where the error was. */
export const tellsComponents = !before(0);
/** An error that comes from elsewhere is logged with where from. */
export const hasBadges = !before(0);
/** `onError` has to return a string, or nothing. */
export const checksDigests = before(0);
/** Where messages of errors lead to. */
export const docsSite = before(0) ? 'https://reactjs.org' : 'https://react.dev';
