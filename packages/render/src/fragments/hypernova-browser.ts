/** `@sluice/render/hypernova` in a browser: what existing components import from `hypernova`. */
import { runHalf, type Halves } from './isomorphic.js';
import { fromScript, load, serialize, toScript } from './markup.js';

export { fromScript, load, serialize, toScript, type Loaded } from './markup.js';

export default function hypernova<Server, Client>(halves: Halves<Server, Client>): Server | Client {
  return runHalf(halves);
}

hypernova.fromScript = fromScript;
hypernova.load = load;
hypernova.serialize = serialize;
hypernova.toScript = toScript;
