import { type FocusArea, type FocusNode, type FocusProps, isStop } from './node.js';

/** Widgets whose places the surface reports: those that an area asks for by direction or by distance. All others cost nothing. */
export class Places {
  readonly #reports: (node: FocusNode, on: boolean) => void;
  readonly #stops = new Set<FocusNode>();
  readonly #reporting = new Set<FocusNode>();
  /** Areas that go by places. */
  readonly #areas = new Set<FocusNode>();
  #isStale = false;

  constructor(reports: (node: FocusNode, on: boolean) => void) {
    this.#reports = reports;
  }

  attach(node: FocusNode): void {
    this.#isStale = true;
    if (isStop(node.props)) this.#stops.add(node);
    if (goesByPlaces(node.props.focusArea)) this.#areas.add(node);
  }

  detach(node: FocusNode): void {
    this.#isStale = true;
    this.#stops.delete(node);
    this.#areas.delete(node);
    this.#reporting.delete(node);
  }

  changed(node: FocusNode, before: FocusProps): void {
    const { props } = node;
    if (isStop(props) === isStop(before) && goesByPlaces(props.focusArea) === goesByPlaces(before.focusArea))
      return;
    this.#isStale = true;
    if (isStop(props)) this.#stops.add(node);
    else this.#stops.delete(node);
    if (goesByPlaces(props.focusArea)) this.#areas.add(node);
    else this.#areas.delete(node);
  }

  /** Says to the surface what has changed. */
  settle(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    if (this.#areas.size === 0 && this.#reporting.size === 0) return;
    const isAnywhere = [...this.#areas].some(({ props }) => props.focusArea?.enter === 'nearest');
    for (const stop of this.#stops)
      if (!this.#reporting.has(stop) && (isAnywhere || this.#isInArea(stop))) {
        this.#reporting.add(stop);
        this.#reports(stop, true);
      }
    for (const stop of this.#reporting)
      if (!this.#stops.has(stop) || !(isAnywhere || this.#isInArea(stop))) {
        this.#reporting.delete(stop);
        this.#reports(stop, false);
      }
  }

  #isInArea(stop: FocusNode): boolean {
    for (let node = stop.parent; node !== null; node = node.parent) if (this.#areas.has(node)) return true;
    return false;
  }
}

const goesByPlaces = (area: FocusArea | undefined): boolean =>
  area !== undefined &&
  (area.direction === 'grid' || area.direction === 'spatial' || area.enter === 'nearest');
