/** `@sluice/render/hypernova` in a browser: what existing components import from `hypernova`. */
import { runHalf, type Halves } from './isomorphic.js';
import { DATA_ID, DATA_KEY, fromScript, load, serialize, toScript } from './markup.js';

export { DATA_ID, DATA_KEY, fromScript, load, serialize, toScript, type Loaded } from './markup.js';

export default function hypernova<Server, Client = never>(halves: Halves<Server, Client>): Server | Client {
  return runHalf(halves);
}

hypernova.DATA_ID = DATA_ID;
hypernova.DATA_KEY = DATA_KEY;
hypernova.fromScript = fromScript;
hypernova.load = load;
hypernova.serialize = serialize;
hypernova.toScript = toScript;
